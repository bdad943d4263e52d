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
	compat string
	tables *lives
	lives  agg.PerSocket[life]

	oldState, newState, pid, comm, tx, rx, retrans scan.Col
	sessions, shorter, shorterMS, strangers        int64
}

func newTcplife(in *engine.Input) engine.Fold {
	f := &tcplife{compat: in.Text("compat"), oldState: in.Str("old_state"), newState: in.Str("new_state"), pid: in.Int("pid"), comm: in.Str("comm"),
		tx: in.Int("bytes_acked"), rx: in.Int("bytes_received"), retrans: in.Int("total_retrans")}
	f.tables = newLives(in, f.compat != "no", render.Col("handshake_us", render.Int).In("us"),
		render.Col("retransmits", render.Int), render.Col("closed_ns", render.Int).In("ns"))
	in.Sockets("the time before it is missing from their lives")
	in.On("tcp_state", f.state)
	in.OnEnd(f.ended)
	return f
}

func (f *tcplife) state(r *engine.Row) {
	if !isTCP(r.Sock) {
		return
	}
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
	s, bytes := r.Sock, traffic{r.Int(f.tx), r.Int(f.rx), r.Has(f.tx)}
	if !l.cached {
		f.cache(l, r)
	}
	if !s.Born && f.compat == "no" && r.Str(f.oldState) != "LISTEN" {
		f.tables.older(s, r.TS, bytes)
		return
	}
	if l.birth == 0 {
		if f.compat != "no" || r.Str(f.oldState) == "LISTEN" {
			return // a listener, or a session that the original never saw begin
		}
		l.birth, l.late = s.First, s.First // began before the selected time
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
	f.tables.line(f.tables.whole, s, pid, comm, r.TS-birth, bytes).IntOr((l.established-l.birth)/1000, l.established != 0).
		IntOr(r.Int(f.retrans), r.Has(f.retrans)).Int(r.TS).End()
}

// ended lists the sessions that never closed.
func (f *tcplife) ended(s *agg.Socket) {
	if isTCP(s) && s.Closed == 0 && s.State != "" && s.State != "LISTEN" && s.State != "CLOSE" && f.compat == "no" {
		f.tables.open(s)
	}
}

// Finish lists the sessions that the recording cut and tells the rules apart.
func (f *tcplife) Finish(a *render.Answer) {
	f.tables.Finish(a)
	if f.sessions == 0 {
		return
	}
	rule := map[string]string{"no": "life from the first state, process that owns the socket",
		"script": "life from the first state, process on the CPU, as the original script",
		"bcc":    "life from ESTABLISHED, process on the CPU, as BCC"}[f.compat]
	a.Note(fmt.Sprintf("rule: %s; counted from ESTABLISHED %s of %s would be shorter, by %s ms together; the process on the CPU is not the owner in %s",
		rule, engine.Group(f.shorter), engine.Group(f.sessions), engine.Group(f.shorterMS), engine.Group(f.strangers)))
}
