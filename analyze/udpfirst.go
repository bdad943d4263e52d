package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/scan"
)

// udpFirst finds the first datagrams that a connected socket sends and receives. Lines are
// held back until both are known, or the socket ends.
type udpFirst struct {
	lines    line.InOrder[udpLine]
	open     agg.PerSocket[udpOpen]
	gaps     *agg.Gaps
	dir, ret scan.Col
}

// udpOpen is the line of a socket that waits for its first datagrams.
type udpOpen struct {
	id             int64 // plus one: 0 is none
	began          int64
	sent, received int64
}

func newUDPFirst(in *engine.Input, write func(*udpLine)) *udpFirst {
	f := &udpFirst{dir: in.Str("dir"), ret: in.Int("ret")}
	f.lines.Write = write
	in.Sockets("")
	event := in.FirstOf("udp_msg", "sock_io")
	f.gaps = in.Gaps(event)
	in.Use(event, "first datagrams are not known", f.msg)
	in.Use("udp_gone", "", nil)
	in.OnEnd(f.over)
	return f
}

// add takes a line; one of a socket that was connected waits.
func (f *udpFirst) add(s *agg.Socket, l udpLine, connected bool) {
	f.over(s)
	id := f.lines.Add(l, !connected || s == nil)
	if connected && s != nil {
		*f.open.Of(s) = udpOpen{id: id + 1, began: l.ts}
	}
}

// over completes the line of a socket with what there is.
func (f *udpFirst) over(s *agg.Socket) {
	o := f.open.Of(s)
	if o.id == 0 {
		return
	}
	f.lines.Complete(o.id-1, func(l *udpLine) { l.sent, l.received = o.sent, o.received })
	o.id = 0
}

func (f *udpFirst) msg(r *engine.Row) {
	o := f.open.Of(r.Sock)
	if o.id == 0 || r.Int(f.ret) < 0 {
		return
	}
	if f.gaps.Of(r.Sock, o.began, r.TS) { // an earlier one may be among lost rows
		f.over(r.Sock)
		return
	}
	if r.Str(f.dir) == "send" {
		if o.sent == 0 {
			o.sent = r.TS
		}
	} else if o.received == 0 {
		o.received = r.TS
	}
	if o.sent != 0 && o.received != 0 {
		f.over(r.Sock)
	}
}
