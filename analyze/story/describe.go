package story

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// describer says in words what a row of a socket is about.
type describer struct {
	*engine.Bytes

	DestPort, Fd, Ret, DurNs, TcpSeq, LenBytes, SndCwnd, SrttUs, Rport                 scan.Int
	OldState, NewState, DestAddr, Dir, RetransKind, State, DropReason, Location, Raddr scan.Str
}

func newDescriber(in *engine.Input) *describer {
	f := &describer{Bytes: in.Bytes()}
	in.Bind(f)
	return f
}

// words is what the row says. Rows of frequent events that follow each other in one
// run are described together: see series.
func (d *describer) words(r *engine.Row) string {
	switch r.Event.Name {
	case "tcp_state":
		return r.Str(d.OldState) + " -> " + r.Str(d.NewState)
	case "sys_connect":
		return fmt.Sprintf("fd %d to %s = %s, %s", r.Int(d.Fd), render.Endpoint(r.Str(d.DestAddr), r.Int(d.DestPort)), render.Errno(r.Int(d.Ret)), Micros(r.Int(d.DurNs)))
	case "sys_accept":
		return fmt.Sprintf("from %s = fd %s, %s", render.Endpoint(r.Str(d.Raddr), r.Int(d.Rport)), render.Errno(r.Int(d.Ret)), Micros(r.Int(d.DurNs)))
	case "sys_close":
		return fmt.Sprintf("fd %d = %s", r.Int(d.Fd), render.Errno(r.Int(d.Ret)))
	case "tcp_retrans":
		return fmt.Sprintf("%s seq %d, %d bytes, cwnd %d, %s", r.Str(d.RetransKind), r.Int(d.TcpSeq), r.Int(d.LenBytes), r.Int(d.SndCwnd), r.Str(d.State))
	case "skb_drop":
		return fmt.Sprintf("%s at %s, %d bytes", r.Str(d.DropReason), r.Str(d.Location), r.Int(d.LenBytes))
	}
	return ""
}

// series is what kind of run a row of a frequent event belongs to, "" for other rows.
func (d *describer) series(r *engine.Row) string {
	switch r.Event.Name {
	case "sock_io":
		if n := r.Int(d.Ret); n < 0 {
			return r.Str(d.Dir) + " = " + render.Errno(n)
		}
		if d.Peeked(r) {
			return r.Str(d.Dir) + " (MSG_PEEK)"
		}
		return r.Str(d.Dir)
	case "tcp_rcv_est":
		return "segments received"
	case "tcp_write_xmit":
		if r.Int(d.Ret) != 0 {
			return "held back"
		}
		return "transmit attempts"
	case "skb_alloc", "skb_consume":
		return "packets"
	}
	return ""
}

// amount is what a run sums up, and its name.
func (d *describer) amount(r *engine.Row) (int64, string) {
	switch {
	case r.Event.Name == "sock_io":
		return max(r.Int(d.Ret), 0), "bytes"
	case r.Event.Name == "tcp_rcv_est":
		return r.Int(d.SndCwnd), "cwnd"
	}
	return 0, ""
}

// Micros is a duration in whole microseconds.
func Micros(ns int64) string { return fmt.Sprintf("%d us", ns/1000) }
