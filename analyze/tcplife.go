package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "tcplife",
	Group:    groupTCP,
	Question: "which TCP sessions happened, how long did they live, how many bytes?",
	Help: `One line per session that ended. MS is the time from the first state of the
session, its SYN, to CLOSE; PID and COMM are the process that connected or
accepted. Sessions whose beginning or end is not in the recording follow apart,
with the part of their life that is.

--compat=script names the process as the original script does (the one on the
CPU at SYN_SENT or LAST_ACK, else at CLOSE). --compat=bcc does too, and counts the
life from ESTABLISHED, since it overwrites the start at every early state.`,
	Example: "tcplife --port 443",
	Options: []engine.Option{{Name: "compat", Kind: engine.Choice, Implied: "script", Default: "no",
		Choices: []string{"no", "script", "bcc"}, Doc: "rule of the original script, or of the BCC tool"}},
	New: newTcplife,
})

// life is what is known of one session.
type life struct {
	birth, late int64 // first and last time of a state before FIN_WAIT1
	established int64
	pid         int64 // as the script caches them
	comm        string
	cached      bool
}

type tcplife struct {
	in     *engine.Input
	compat string
	t, cut *render.Table
	lives  agg.PerSocket[life]

	newState, pid, comm, tx, rx, retrans    scan.Col
	sessions, shorter, shorterMS, strangers int64
}

func newTcplife(in *engine.Input) engine.Fold {
	f := &tcplife{in: in, compat: in.Text("compat"), newState: in.Str("new_state"), pid: in.Int("pid"), comm: in.Str("comm"),
		tx: in.Int("bytes_acked"), rx: in.Int("bytes_received"), retrans: in.Int("total_retrans")}
	cols := join(owner(), ends(), []render.Column{
		render.Col("tx_kb", render.Int).Text("TX_KB", 5).In("KiB"), render.Col("rx_kb", render.Int).Text("RX_KB", 5).In("KiB"),
		render.Col("ms", render.Int).Text("MS", 0).In("ms"), render.Col("tx_bytes", render.Int).In("bytes"),
		render.Col("rx_bytes", render.Int).In("bytes"), render.Col("life_ns", render.Int).In("ns")}, identity())
	f.t = in.Table(render.Spec{Name: "sessions", Columns: append(cols[:len(cols):len(cols)], render.Col("handshake_us", render.Int).In("us"),
		render.Col("retransmits", render.Int), render.Col("closed_ns", render.Int).In("ns"))})
	f.cut = in.Table(render.Spec{Name: "cut", Title: "at least this long: began before the recording or still open at its end",
		Columns: append(cols, render.Col("why", render.String).Text("WHY", 0))}).Hold(1 << 16)
	in.Sockets("the time before it is missing from their lives")
	in.On("tcp_state", f.state)
	in.OnEnd(f.ended)
	return f
}

func (f *tcplife) state(r *engine.Row) {
	l := f.lives.Of(r.Sock)
	switch state := r.Str(f.newState); state {
	case "SYN_SENT", "SYN_RECV", "ESTABLISHED":
		if l.birth == 0 {
			l.birth = r.TS
		}
		if l.late = r.TS; state == "ESTABLISHED" {
			l.established = r.TS
		}
		if state == "SYN_SENT" {
			f.cache(l, r)
		}
	case "LAST_ACK":
		f.cache(l, r)
	case "CLOSE":
		f.close(l, r)
	}
}

// cache notes the task on the CPU, as the script does.
func (f *tcplife) cache(l *life, r *engine.Row) {
	l.pid, l.comm, l.cached = r.Int(f.pid), r.Str(f.comm), true
}

func (f *tcplife) close(l *life, r *engine.Row) {
	s, bytes := r.Sock, r.Has(f.tx)
	if !l.cached {
		f.cache(l, r)
	}
	if !s.Born && f.compat == "no" {
		f.line(f.cut, s, s.Pid, s.Comm, r.TS-f.since(s), r.Int(f.tx), r.Int(f.rx), bytes).Str("began before").End()
		return
	}
	if l.birth == 0 {
		return // a listener, or a session the original never saw begin
	}
	f.sessions++
	if s.Pid != l.pid {
		f.strangers++
	}
	if l.late != l.birth {
		f.shorter++
		f.shorterMS += (l.late - l.birth) / 1e6
	}
	pid, comm, birth := s.Pid, s.Comm, l.birth
	if f.compat != "no" {
		pid, comm = l.pid, l.comm
	}
	if f.compat == "bcc" {
		birth = l.late
	}
	f.line(f.t, s, pid, comm, r.TS-birth, r.Int(f.tx), r.Int(f.rx), bytes).IntOr((l.established-l.birth)/1000, l.established != 0).
		IntOr(r.Int(f.retrans), r.Has(f.retrans)).Int(r.TS).End()
}

func (f *tcplife) line(t *render.Table, s *agg.Socket, pid int64, comm string, ns, tx, rx int64, bytes bool) *render.Table {
	putEnds(t.IntOr(pid, pid != 0 || f.compat != "no").Str(comm), s)
	t.IntOr(tx/1024, bytes).IntOr(rx/1024, bytes).Int(ns/1e6).IntOr(tx, bytes).IntOr(rx, bytes).Int(ns)
	return putIdentity(t, s)
}

// since is when the part of a life that the recording has begins.
func (f *tcplife) since(s *agg.Socket) int64 {
	if s.Older {
		return f.in.Start()
	}
	return s.First
}

// ended lists the sessions that never closed.
func (f *tcplife) ended(s *agg.Socket) {
	if s.Closed != 0 || s.State == "" || s.State == "LISTEN" || s.State == "CLOSE" || f.compat != "no" {
		return
	}
	why, until := "end not seen", s.Last
	if s.Open {
		why, until = "open", f.in.Meta.LastNS
	}
	if !s.Born {
		why = "began before, " + why
	}
	f.line(f.cut, s, s.Pid, s.Comm, until-f.since(s), 0, 0, false).Str(why).End()
}

// Finish lists the sessions that the recording cut and tells the rules apart.
func (f *tcplife) Finish(a *render.Answer) {
	f.cut.Show()
	if f.cut.Dropped > 0 {
		a.Note("sessions cut by the recording and not listed: " + engine.Group(f.cut.Dropped))
	}
	if f.sessions == 0 {
		return
	}
	rule := map[string]string{"no": "life from the first state, process that owns the socket",
		"script": "life from the first state, process on the CPU, as the original script",
		"bcc":    "life from ESTABLISHED, process on the CPU, as BCC"}[f.compat]
	a.Note(fmt.Sprintf("rule: %s; from ESTABLISHED %s of %s are shorter, by %s ms together; in %s the process on the CPU is not the owner",
		rule, engine.Group(f.shorter), plural(f.sessions, "session", "sessions"), engine.Group(f.shorterMS), engine.Group(f.strangers)))
}
