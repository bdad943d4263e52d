package analyze

import (
	"fmt"
	"slices"
	"strconv"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/packets"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

// resent is a buffer, a probe or a SYN-ACK that TCP retransmitted.
type resent struct {
	kind, state  string
	laddr, raddr string
	lport, rport int64
	task         shape.Process // on the CPU
	data         bool          // a buffer of tcp_retrans: seq and length are known
	seq, length  int64
	segs         int64  // retransmitted; 0 of a probe with new data, and of an attempt that failed
	before, cwnd int64  // congestion window at the last segment received, and now; 0 if unknown
	why          string // why this host dropped it before; "" if it did not
	probe        string // what it asks the peer, "" if TCP takes it for lost
}

// heard is what the last segment received found.
type heard struct {
	cwnd   int64
	closed bool // the peer's window is
}

// resends reads every kind of retransmission: buffers (R), tail loss probes (L) and
// SYN-ACKs (S), the last in the name of the listener. A probe that repeats data is one
// retransmission, though two hooks tell of it; the originals show both.
type resends struct {
	sent   func(*agg.Socket, int64, resent)
	again  *engine.Resent
	both   bool // hooks as the originals have them
	losses *losses
	heard  agg.PerSocket[heard]
	names  agg.Intern

	Pid, Lport, Rport, TcpSeq, LenBytes, SndCwnd, SndWnd, ProbeSent, RetransSegs scan.Int
	RetransKind, State, CaState, Comm, Laddr, Raddr                              scan.Str
}

func newResends(in *engine.Input, both bool, sent func(*agg.Socket, int64, resent)) *resends {
	f := &resends{sent: sent, both: both, again: in.Resent()}
	in.Bind(f)
	in.On("tcp_retrans", f.row)
	in.Use("tcp_tlp", "there are no tail loss probes (L)", func(r *engine.Row) {
		if r.Int(f.ProbeSent) != 0 && (f.both || r.Int(f.RetransSegs) == 0) {
			f.row(r)
		}
	})
	in.Use("tcp_synack_retrans", "there are no SYN-ACKs (S)", f.row)
	in.Use("tcp_rcv_est", "the congestion window before is not known", func(r *engine.Row) {
		if r.Sock != nil {
			*f.heard.Of(r.Sock) = heard{r.Int(f.SndCwnd), r.Has(f.SndWnd) && r.Int(f.SndWnd) == 0}
		}
	})
	f.losses = newLosses(in)
	return f
}

func (f *resends) row(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	v := resent{kind: f.names.Get(r.Str(f.RetransKind)), state: f.names.Get(r.Str(f.State)),
		laddr: f.names.Get(r.Str(f.Laddr)), lport: r.Int(f.Lport), raddr: f.names.Get(r.Str(f.Raddr)), rport: r.Int(f.Rport),
		task: shape.Process{Comm: f.names.Get(r.Str(f.Comm)), Pid: r.Int(f.Pid)}, seq: r.Int(f.TcpSeq), length: r.Int(f.LenBytes),
		cwnd: r.Int(f.SndCwnd)}
	switch r.Event.Name {
	case "tcp_retrans":
		if v.data, v.segs = true, f.again.Segments(r); f.both {
			v.kind = "R"
		}
	case "tcp_synack_retrans":
		v.segs = 1
	}
	if v.kind != "S" {
		last := f.heard.Of(r.Sock)
		v.before, v.probe = last.cwnd, probed(last.closed, r.Str(f.CaState))
	}
	v.why = f.losses.claim(packets.Flow{Saddr: v.laddr, Daddr: v.raddr, Sport: v.lport, Dport: v.rport}, v.length)
	f.sent(r.Sock, r.TS, v)
}

// probed is what a retransmission asks the peer, "" if TCP takes its data for lost: then it has noticed a loss. With a
// window that is closed it asks for another.
func probed(closed bool, caState string) string {
	switch {
	case closed:
		return "none: zero window"
	case caState == "open" || caState == "cwr":
		return "unknown: probe"
	}
	return ""
}

// resentLine is a retransmission as a line shows it.
type resentLine struct {
	resent
	sock    *agg.Socket
	ts, pid int64
	comm    string
}

// window is the congestion window before and now, as far as they are known.
func (l *resentLine) window() (s string) {
	if l.cwnd != 0 {
		s = strconv.FormatInt(l.cwnd, 10)
	}
	if l.before != 0 {
		s = strconv.FormatInt(l.before, 10) + ">" + s
	}
	return s
}

// end is an end of the connection, as the original that was asked for prints it.
func (f *tcpretrans) end(addr string, port int64) string {
	if f.script {
		return fmt.Sprintf("%14s:%-6d", addr, port)
	}
	return line.EndOf(addr, port)
}

// fields are those of the original that was asked for, then those for programs.
func (f *tcpretrans) fields() []render.Field[resentLine] {
	pid := render.NumOr("pid", func(l *resentLine) (int64, bool) { return l.pid, l.pid != 0 || f.compat }).Text("PID", -7)
	local := render.Text("local", func(l *resentLine) string { return f.end(l.laddr, l.lport) }).Text("LADDR:LPORT", -20).ForPeople()
	remote := render.Text("remote", func(l *resentLine) string { return f.end(l.raddr, l.rport) }).ForPeople()
	state := render.TextOr("state", func(l *resentLine) string { return l.state })
	if f.script {
		pid, remote, state = pid.Text("PID", -8), remote.Text("RADDR:RPORT", -21), state.Text("STATE", 6)
	} else {
		remote, state = remote.Text("RADDR:RPORT", -20).Sep("> "), state.Text("STATE", -11)
	}
	more := !f.compat && !f.script
	return append([]render.Field[resentLine]{
		line.TimeOfDay(f.in, func(l *resentLine) int64 { return l.ts }),
		pid,
		render.TextOr("comm", func(l *resentLine) string { return l.comm }),
		render.Num("ip", func(l *resentLine) int64 { return line.IPVersion(l.raddr) }).TextIf(!f.script, "IP", -2),
		local,
		render.Text("kind", func(l *resentLine) string { return l.kind }).TextIf(!f.script, "T", -1),
		remote, state,
		render.NumOr("tcp_seq", func(l *resentLine) (int64, bool) { return l.seq, l.data }).TextIf(f.seq, "SEQ", -12),
		render.NumOr("len_bytes", func(l *resentLine) (int64, bool) { return l.length, l.data }).TextIf(f.seq, "LEN", -6).In("bytes"),
		render.Num("segs", func(l *resentLine) int64 { return l.segs }).TextIf(more, "SEGS", 4).In("segments"),
		render.Text("window", (*resentLine).window).TextIf(more, "CWND", -9).ForPeople(),
		render.TextOr("loss", func(l *resentLine) string { return l.why }).TextIf(more, "LOSS", 0),
	}, resentFields...)
}

// resentFields are those that programs see of a retransmission, after the ones for people.
var resentFields = slices.Concat([]render.Field[resentLine]{
	render.NonZero("cwnd_before", func(l *resentLine) int64 { return l.before }).In("segments"),
	render.NonZero("cwnd", func(l *resentLine) int64 { return l.cwnd }).In("segments"),
	render.Text("laddr", func(l *resentLine) string { return l.laddr }),
	render.Num("lport", func(l *resentLine) int64 { return l.lport }),
	render.Text("raddr", func(l *resentLine) string { return l.raddr }),
	render.Num("rport", func(l *resentLine) int64 { return l.rport }),
}, render.Within(func(l *resentLine) *agg.Socket { return l.sock }, line.IdentityFields...), []render.Field[resentLine]{
	render.Num("ts_ns", func(l *resentLine) int64 { return l.ts }).In("ns"),
})
