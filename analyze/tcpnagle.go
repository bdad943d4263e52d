package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "tcpnagle",
	Group:    groupTCP,
	Question: "how is Nagle set on transmit calls, and how long is transmission held back?",
	Help: `@nagle counts the transmit attempts by the Nagle flags they were made with.
@blocked_us is how long data stayed back: from the first attempt that found
nothing in flight, data queued and sent nothing, to the attempt of the same socket
that sent some. Windows, pacing and queue limits hold data back as well as Nagle.

The original ends a span at the next attempt that returned false, whether or not
it sent anything, and has no name for the flags 6 and 7. --compat does the same.`,
	Example: "tcpnagle --port 22",
	Options: []engine.Option{engine.Compat("a false return ends the span")},
	New:     newTcpnagle,
})

var nagleFlags = []string{"ON", "OFF", "CORK", "OFF|CORK", "PUSH", "OFF|PUSH", "CORK|PUSH", "OFF|CORK|PUSH"}

// blocked is the state of one socket: when data began to stay back, by both rules.
type blocked struct {
	right, original int64
	nxt             uint32
}

type tcpnagle struct {
	us     *mapOf[none, agg.Log2]
	flags  *mapOf[text, int64]
	socks  agg.PerSocket[blocked]
	compat bool

	ret, nonagle, nxt             scan.Col
	ends, rightNS, origEnds, orig int64
}

func newTcpnagle(in *engine.Input) engine.Fold {
	f := &tcpnagle{compat: in.Flag("compat"), ret: in.Int("ret"), nonagle: in.Int("nonagle"), nxt: in.Int("snd_nxt")}
	f.us = histOf[none](in, "blocked_us", "us")
	f.flags = countBy[text](in, "nagle", render.Col("flags", render.String))
	in.Sockets("")
	in.On("tcp_write_xmit", f.row)
	return also(f.us, f.flags, f)
}

func (f *tcpnagle) row(r *engine.Row) {
	flags := r.Int(f.nonagle) & 7
	name := nagleFlags[flags]
	if f.compat && flags >= 6 {
		name = ""
	}
	f.flags.Add(text(name), 1)
	if r.Sock == nil {
		return
	}
	s, nxt, held := f.socks.Of(r.Sock), uint32(r.Int(f.nxt)), r.Int(f.ret) != 0
	// Sequence numbers wrap, so the difference decides.
	if s.right != 0 && int32(nxt-s.nxt) > 0 {
		f.end(r.TS-s.right, &f.ends, &f.rightNS, !f.compat)
		s.right = 0
	}
	if s.original != 0 && !held {
		f.end(r.TS-s.original, &f.origEnds, &f.orig, f.compat)
		s.original = 0
	}
	if !held {
		return
	}
	if s.right == 0 {
		s.right, s.nxt = r.TS, nxt
	}
	if s.original == 0 {
		s.original = r.TS
	}
}

func (f *tcpnagle) end(ns int64, n, sum *int64, count bool) {
	*n++
	*sum += ns / 1000
	if count {
		f.us.Add(none{}, ns/1000)
	}
}

// Finish tells the rules apart.
func (f *tcpnagle) Finish(a *render.Answer) {
	if f.ends == f.origEnds && f.rightNS == f.orig {
		return
	}
	a.Note(fmt.Sprintf("blocked: %s, %s us together, when data was sent; the original's rule gives %s, %s us (--compat), as it also ends where nothing was sent",
		plural(f.ends, "span", "spans"), engine.Group(f.rightNS), engine.Group(f.origEnds), engine.Group(f.orig)))
}
