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
	oldState, newState, dest, destPort, fd, ret, dur, dir     scan.Col
	kind, tcpSeq, length, state, cwnd, srtt, reason, location scan.Col
	raddr, rport                                              scan.Col
}

func newDescriber(in *engine.Input) *describer {
	return &describer{Bytes: in.Bytes(), oldState: in.Str("old_state"), newState: in.Str("new_state"), dest: in.Str("dest_addr"), destPort: in.Int("dest_port"),
		fd: in.Int("fd"), ret: in.Int("ret"), dur: in.Int("dur_ns"), dir: in.Str("dir"), kind: in.Str("retrans_kind"), tcpSeq: in.Int("tcp_seq"),
		length: in.Int("len_bytes"), state: in.Str("state"), cwnd: in.Int("snd_cwnd"), srtt: in.Int("srtt_us"),
		reason: in.Str("drop_reason"), location: in.Str("location"), raddr: in.Str("raddr"), rport: in.Int("rport")}
}

// words is what the row says. Rows of frequent events that follow each other in one
// run are described together: see series.
func (d *describer) words(r *engine.Row) string {
	switch r.Event.Name {
	case "tcp_state":
		return r.Str(d.oldState) + " -> " + r.Str(d.newState)
	case "sys_connect":
		return fmt.Sprintf("fd %d to %s = %s, %s", r.Int(d.fd), render.Endpoint(r.Str(d.dest), r.Int(d.destPort)), render.Errno(r.Int(d.ret)), Micros(r.Int(d.dur)))
	case "sys_accept":
		return fmt.Sprintf("from %s = fd %s, %s", render.Endpoint(r.Str(d.raddr), r.Int(d.rport)), render.Errno(r.Int(d.ret)), Micros(r.Int(d.dur)))
	case "sys_close":
		return fmt.Sprintf("fd %d = %s", r.Int(d.fd), render.Errno(r.Int(d.ret)))
	case "tcp_retrans":
		return fmt.Sprintf("%s seq %d, %d bytes, cwnd %d, %s", r.Str(d.kind), r.Int(d.tcpSeq), r.Int(d.length), r.Int(d.cwnd), r.Str(d.state))
	case "skb_drop":
		return fmt.Sprintf("%s at %s, %d bytes", r.Str(d.reason), r.Str(d.location), r.Int(d.length))
	}
	return ""
}

// series is what kind of run a row of a frequent event belongs to, "" for other rows.
func (d *describer) series(r *engine.Row) string {
	switch r.Event.Name {
	case "sock_io":
		if n := r.Int(d.ret); n < 0 {
			return r.Str(d.dir) + " = " + render.Errno(n)
		}
		if d.Peeked(r) {
			return r.Str(d.dir) + " (MSG_PEEK)"
		}
		return r.Str(d.dir)
	case "tcp_rcv_est":
		return "segments received"
	case "tcp_write_xmit":
		if r.Int(d.ret) != 0 {
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
		return max(r.Int(d.ret), 0), "bytes"
	case r.Event.Name == "tcp_rcv_est":
		return r.Int(d.cwnd), "cwnd"
	}
	return 0, ""
}

// Micros is a duration in whole microseconds.
func Micros(ns int64) string { return fmt.Sprintf("%d us", ns/1000) }
