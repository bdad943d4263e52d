package analyze

import (
	"slices"

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
}

// resends reads every kind of retransmission: buffers (R), tail loss probes (L) and
// SYN-ACKs (S), the last in the name of the listener. A probe that repeats data is one
// retransmission, though two hooks tell of it; the originals show both.
type resends struct {
	sent   func(*agg.Socket, int64, resent)
	again  *engine.Resent
	both   bool // hooks as the originals have them
	losses *losses
	cwnds  agg.PerSocket[int64]
	names  agg.Intern

	Pid, Lport, Rport, TcpSeq, LenBytes, SndCwnd, ProbeSent, RetransSegs scan.Int
	RetransKind, State, Comm, Laddr, Raddr                               scan.Str
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
			*f.cwnds.Of(r.Sock) = r.Int(f.SndCwnd)
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
		v.before = *f.cwnds.Of(r.Sock)
	}
	v.why = f.losses.claim(packets.Flow{Saddr: v.laddr, Daddr: v.raddr, Sport: v.lport, Dport: v.rport}, v.length)
	f.sent(r.Sock, r.TS, v)
}

// columns are those of the original that was asked for, then those for programs.
func (f *tcpretrans) columns() []render.Column {
	pid, comm, ip := render.Col("pid", render.Int).Text("PID", -7), render.Col("comm", render.String), render.Col("ip", render.Int)
	local, remote := render.Col("local", render.String).ForPeople(), render.Col("remote", render.String).ForPeople()
	kind, state := render.Col("kind", render.String), render.Col("state", render.String)
	if f.script {
		pid, local, remote, state = pid.Text("PID", -8), local.Text("LADDR:LPORT", -20), remote.Text("RADDR:RPORT", -21), state.Text("STATE", 6)
	} else {
		ip, local, kind = ip.Text("IP", -2), local.Text("LADDR:LPORT", -20), kind.Text("T", -1)
		remote, state = remote.Text("RADDR:RPORT", -20).Sep("> "), state.Text("STATE", -11)
	}
	seq, length := render.Col("tcp_seq", render.Int), render.Col("len_bytes", render.Int).In("bytes")
	segs := render.Col("segs", render.Int).In("segments")
	window, loss := render.Col("window", render.String).ForPeople(), render.Col("loss", render.String)
	if f.seq {
		seq, length = seq.Text("SEQ", -12), length.Text("LEN", -6)
	}
	if !f.compat && !f.script {
		segs, window, loss = segs.Text("SEGS", 4), window.Text("CWND", -9), loss.Text("LOSS", 0)
	}
	return slices.Concat([]render.Column{render.Col("time", render.Clock).Text("TIME", -8).ForPeople(), pid, comm, ip, local, kind, remote, state,
		seq, length, segs, window, loss}, f.reader.columns())
}

// columns are those that programs see of a retransmission, after the ones for people.
func (*resends) columns() []render.Column {
	return slices.Concat([]render.Column{render.Col("cwnd_before", render.Int).In("segments"), render.Col("cwnd", render.Int).In("segments"),
		render.Col("laddr", render.String), render.Col("lport", render.Int), render.Col("raddr", render.String), render.Col("rport", render.Int)},
		line.Identity(), []render.Column{render.Col("ts_ns", render.Int).In("ns")})
}

func (v *resent) put(t *render.Table, s *agg.Socket, ts int64) {
	t.IntOr(v.before, v.before != 0).IntOr(v.cwnd, v.cwnd != 0).Str(v.laddr).Int(v.lport).Str(v.raddr).Int(v.rport)
	line.PutIdentity(t, s).Int(ts).End()
}
