package export

import (
	"netrec/analyze/agg"
	"netrec/analyze/scan"
)

// shown are the events that a trace shows, with the tracks they need beside the socket's.
var shown = map[string][]int{
	"tcp_state": nil, "tcp_retrans": nil, "tcp_synack_retrans": nil, "tcp_reset": nil, "tcp_tlp": nil, "skb_drop": nil,
	"qdisc_drop": nil, "sock_rcvqueue_full": nil, "sock_exceed_buf_limit": nil,
	"tcp_cong_state": {trackCong}, "tcp_write_xmit": {trackHeld, trackCwnd}, "tcp_rcv_est": {trackCwnd},
}

// perfettoCols are the columns that a trace is made of, beside those of identities.
type perfettoCols struct {
	asked scan.Columns

	LenBytes, SndUna, SndNxt, WriteSeq, SndWnd, MssBytes, PacketsOut, SndCwnd, Nonagle, Ret scan.Int
	TcpSeq                                                                                  scan.Int
	OldState, NewState, CaState, RetransKind, DropReason, QdiscDropReason, RstReason        scan.Str
	Location, Kstack, Dir, Dev                                                              scan.Str
}

func newPerfettoCols() perfettoCols {
	var c perfettoCols
	c.asked.MustBind(&c)
	return c
}

// show writes what a row says about its socket.
func (p *perfetto) show(r *scan.Row, s *agg.Socket) {
	c := &p.col
	switch {
	case s == nil:
		p.moment(trackNoSock, r)
		return
	case s.Strange:
		p.moment(trackStrange, r)
		return
	}
	l := p.lives.Of(s)
	switch r.Event.Name {
	case "tcp_state":
		p.state(s, l, r)
	case "tcp_cong_state":
		p.slice(s, trackCong, r.TS, unusual(r.Str(c.CaState)), note{name: "snd_cwnd", num: r.Int(c.SndCwnd)})
	case "tcp_write_xmit":
		p.hold(s, l, r)
		p.window(s, l, r)
	case "tcp_rcv_est":
		p.window(s, l, r)
	default:
		p.moment(uuid(s, trackStates), r)
	}
}

// unusual is the name of a state of congestion control that slows the sender down, ""
// for the usual one.
func unusual(ca string) string {
	if ca == "open" {
		return ""
	}
	return ca
}

// state ends the slice of a state and begins the next; a closed socket has none of any kind.
func (p *perfetto) state(s *agg.Socket, l *life, r *scan.Row) {
	from, to := r.Str(p.col.OldState), r.Str(p.col.NewState)
	if l.states++; l.states == 1 && s.Older && from != "CLOSE" && !p.gaps["tcp_state"].Between(p.start, r.TS) {
		p.slice(s, trackStates, p.start, from, note{name: "began", text: "before the recording"})
	}
	l.open[trackStates].lasted(from, r.TS) // no session comes to a state twice
	if to != "CLOSE" {
		p.slice(s, trackStates, r.TS, to)
		return
	}
	for kind := range sliceEvents {
		p.slice(s, kind, r.TS, "")
	}
}

// lasted notes that a slice of this name went on until now.
func (o *slice) lasted(name string, now int64) {
	if o.name == name {
		o.sure = now
	}
}

// sliceEvents are the events that begin and end slices, by track.
var sliceEvents = [kindsOfTracks]string{trackStates: "tcp_state", trackCong: "tcp_cong_state", trackHeld: "tcp_write_xmit"}

// slice ends what is open on a track and begins another slice, none for no name.
func (p *perfetto) slice(s *agg.Socket, kind int, ts int64, name string, notes ...note) {
	o := &p.lives.Of(s).open[kind]
	if p.gaps[sliceEvents[kind]].Between(o.sure, ts) {
		p.over(s, kind, ts, note{name: "end", text: "may be earlier: rows were lost"})
	} else {
		p.over(s, kind, ts)
	}
	if *o = (slice{name, ts}); name != "" {
		p.on(uuid(s, kind), ts, sliceBegin, "tcp", name, notes...)
	}
}

// over ends what is open on a track.
func (p *perfetto) over(s *agg.Socket, kind int, ts int64, notes ...note) {
	if o := &p.lives.Of(s).open[kind]; o.name != "" {
		p.on(uuid(s, kind), ts, sliceEnd, "", "", notes...)
	}
}

// hold follows data that stays queued until some of it is sent.
func (p *perfetto) hold(s *agg.Socket, l *life, r *scan.Row) {
	c := &p.col
	u := agg.Unsent{Una: uint32(r.Int(c.SndUna)), Nxt: uint32(r.Int(c.SndNxt)), Write: uint32(r.Int(c.WriteSeq)), Wnd: uint32(r.Int(c.SndWnd)),
		MSS: r.Int(c.MssBytes), Out: r.Int(c.PacketsOut), Cwnd: r.Int(c.SndCwnd), Flags: r.Int(c.Nonagle)}
	o, sent, before := &l.open[trackHeld], int32(u.Nxt-l.nxt) > 0, max(l.wrote, s.First)
	l.nxt, l.wrote = u.Nxt, r.TS
	if sent {
		p.slice(s, trackHeld, r.TS, "")
	}
	if p.shared && !u.Followed(r.Int(c.Ret) != 0) {
		return
	}
	o.lasted(o.name, r.TS)
	if why := u.Why(); o.name == "" && why != "" && (!sent || r.Int(c.Ret) != 0) {
		notes := []note{{name: "queued_bytes", num: int64(int32(u.Write - u.Nxt))}}
		if p.gaps["tcp_write_xmit"].Between(before, r.TS) {
			notes = append(notes, note{name: "began", text: "maybe earlier: rows were lost"})
		}
		p.slice(s, trackHeld, r.TS, why, notes...)
	}
}

// window shows the congestion window where it changes.
func (p *perfetto) window(s *agg.Socket, l *life, r *scan.Row) {
	if v := r.Int(p.col.SndCwnd); v != l.cwnd {
		l.cwnd = v
		p.count(uuid(s, trackCwnd), r.TS, v)
	}
}

// moment writes an instant.
func (p *perfetto) moment(id uint64, r *scan.Row) {
	c := &p.col
	length := note{name: "bytes", num: r.Int(c.LenBytes)}
	switch r.Event.Name {
	case "tcp_retrans":
		p.on(id, r.TS, instant, "tcp", "retransmit "+r.Str(c.RetransKind), length, note{name: "tcp_seq", num: r.Int(c.TcpSeq)}, note{name: "ca_state", text: r.Str(c.CaState)})
	case "tcp_synack_retrans":
		p.on(id, r.TS, instant, "tcp", "retransmit SYN-ACK")
	case "tcp_tlp":
		p.on(id, r.TS, instant, "tcp", "tail loss probe")
	case "tcp_reset":
		p.on(id, r.TS, instant, "tcp", "reset "+r.Str(c.Dir), note{name: "reason", text: r.Str(c.RstReason)})
	case "skb_drop":
		p.on(id, r.TS, instant, "drop", "drop "+r.Str(c.DropReason), length, note{name: "at", text: r.Str(c.Location)}, note{name: "stack", text: r.Str(c.Kstack)})
	case "qdisc_drop":
		p.on(id, r.TS, instant, "drop", "queue drop "+r.Str(c.QdiscDropReason), length, note{name: "dev", text: r.Str(c.Dev)})
	case "sock_rcvqueue_full":
		p.on(id, r.TS, instant, "drop", "receive queue full")
	case "sock_exceed_buf_limit":
		p.on(id, r.TS, instant, "drop", "memory limit "+r.Str(c.Dir))
	}
}

// close ends what is open at the end of a socket's life. If that was not seen, it is at the
// newest row.
func (p *perfetto) close(s *agg.Socket) {
	for kind := range sliceEvents {
		switch {
		case s.Open:
			p.slice(s, kind, p.stop, "")
		case p.lossy:
			p.over(s, kind, s.Last, note{name: "end", text: "not seen: rows were lost"})
		default:
			p.over(s, kind, s.Last)
		}
	}
}
