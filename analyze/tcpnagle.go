package analyze

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "tcpnagle",
	Group:    groupSlow,
	Question: "how is Nagle set on transmit calls, how long is transmission held back, and why?",
	Help: `@nagle counts transmit attempts by their Nagle flags. @blocked_us is how long data was held
back: from the first attempt that had data queued, nothing in flight, and sent nothing, to
the attempt of the same socket that sent something. --held shows the same for every
attempt that left data queued and sent nothing, by reason; this includes Nagle itself,
which waits for data in flight.

Reasons come from the state after the first such attempt. peer window and congestion
window: no room. cork and nagle: less than a segment is held back. Otherwise: pacing, or
the limit of data that a socket can have in lower queues. --by reason also splits
@blocked_us by reason; other keys apply to all three.

The original ends a span at the next attempt that returned false, whether or not it sent
anything, and has no name for the flags 6 and 7. --compat does the same.`,
	Example: "tcpnagle --held --port 22",
	Options: []engine.Option{{Name: "held", Kind: engine.Flag, Doc: "also data that waits while segments are in flight"},
		engine.By("", append([]string{"reason"}, engine.SocketKeys...)...), engine.Compat("a false return ends the span")},
	New: newTcpnagle,
})

var nagleFlags = []string{"ON", "OFF", "CORK", "OFF|CORK", "PUSH", "OFF|PUSH", "CORK|PUSH", "OFF|CORK|PUSH"}

// blocked is the state of one socket: when data began to stay back, by both rules and
// whatever is in flight, and the keys of that moment.
type blocked struct {
	right, original, held int64
	key                   engine.Key
	reason                shape.AndText
	nxt                   uint32
}

type tcpnagle struct {
	us     *shape.Map[engine.Key, agg.Log2]
	held   *shape.Map[shape.AndText, agg.Log2]
	flags  *shape.Map[shape.AndText, int64]
	keys   *engine.Keys
	others *engine.Keys // without the reason, which has a place of its own
	socks  agg.PerSocket[blocked]
	all    bool
	compat bool
	shared bool // not every attempt is in the recording

	ends, rightNS, origEnds, orig int64
	skipped                       int64

	Ret, Nonagle, SndUna, SndNxt, WriteSeq, SndWnd, SndCwnd, PacketsOut, MssBytes scan.Int
}

func newTcpnagle(in *engine.Input) engine.Fold {
	f := &tcpnagle{all: in.Flag("held"), compat: in.Flag("compat")}
	in.Bind(f)
	in.Sockets("")
	f.shared = in.Meta.Share("tcp_write_xmit") != nil
	f.keys = in.Keys(map[string]engine.KeyDef{"reason": {render.Text("reason", func(r *engine.Row) string { return string(f.reason(r)) })}})
	f.us = shape.Hist(in, "blocked_us", "us", f.keys.Fields...)
	f.others = in.Keys(map[string]engine.KeyDef{"reason": nil})
	f.held = shape.Hist(in, "held_us", "us", shape.AndTextFields(f.others, "reason")...)
	f.flags = shape.Count(in, "nagle", shape.AndTextFields(f.others, "flags")...)
	in.On("tcp_write_xmit", f.row)
	return shape.Also(f.us, f.held, f.flags, f)
}

func (f *tcpnagle) row(r *engine.Row) {
	flags := r.Int(f.Nonagle) & 7
	name := nagleFlags[flags]
	if f.compat && flags >= 6 {
		name = ""
	}
	f.flags.Add(shape.AndText{Key: f.others.Of(r), Text: name}, 1)
	if r.Sock == nil {
		return
	}
	s, nxt, stuck := f.socks.Of(r.Sock), uint32(r.Int(f.SndNxt)), r.Int(f.Ret) != 0
	if sent := int32(nxt-s.nxt) > 0; sent && s.right != 0 {
		f.end(s.key, r.TS-s.right, &f.ends, &f.rightNS, !f.compat)
		s.right = 0
	}
	if s.original != 0 && !stuck {
		f.end(s.key, r.TS-s.original, &f.origEnds, &f.orig, f.compat)
		s.original = 0
	}
	if f.all {
		f.wait(s, r, nxt)
	}
	if stuck && s.right == 0 && s.original == 0 {
		s.key = f.keys.Of(r)
	}
	if stuck && s.right == 0 {
		s.right = r.TS
	}
	if stuck && s.original == 0 {
		s.original = r.TS
	}
	s.nxt = nxt
}

func (f *tcpnagle) end(k engine.Key, ns int64, n, sum *int64, count bool) {
	*n++
	*sum += ns / 1000
	if count {
		f.us.Add(k, ns/1000)
	}
}

// Finish tells the rules apart.
func (f *tcpnagle) Finish(a *render.Answer) {
	if f.all && f.skipped > 0 {
		a.Note("held_us only has waits of less than a segment or with nothing in flight; netrec record --packets all records the others")
	}
	if f.ends == f.origEnds && f.rightNS == f.orig {
		return
	}
	a.Note(fmt.Sprintf("blocked until data was sent: %s, %s us in total; the original (--compat) gives %s, %s us, because it also ends spans at attempts that sent nothing",
		engine.Plural(f.ends, "span", "spans"), engine.Thousands(f.rightNS), engine.Thousands(f.origEnds), engine.Thousands(f.orig)))
}

func (f *tcpnagle) unsent(r *engine.Row) agg.Unsent {
	return agg.Unsent{Una: uint32(r.Int(f.SndUna)), Nxt: uint32(r.Int(f.SndNxt)), Write: uint32(r.Int(f.WriteSeq)), Wnd: uint32(r.Int(f.SndWnd)),
		MSS: r.Int(f.MssBytes), Out: r.Int(f.PacketsOut), Cwnd: r.Int(f.SndCwnd), Flags: r.Int(f.Nonagle)}
}

// reason is why data that is queued was not sent.
func (f *tcpnagle) reason(r *engine.Row) shape.Text {
	return shape.Text(cmp.Or(f.unsent(r).Why(), "nothing queued"))
}

// wait follows data that stays queued, whatever is in flight.
func (f *tcpnagle) wait(s *blocked, r *engine.Row, nxt uint32) {
	if sent := int32(nxt-s.nxt) > 0; sent && s.held != 0 {
		f.held.Add(s.reason, (r.TS-s.held)/1000)
		s.held = 0
	}
	if f.shared && !f.unsent(r).Followed(r.Int(f.Ret) != 0) {
		f.skipped++
		return
	}
	if why := f.reason(r); s.held == 0 && (nxt == s.nxt || r.Int(f.Ret) != 0) && why != "nothing queued" {
		s.held, s.reason = r.TS, shape.AndText{Key: f.others.Of(r), Text: string(why)}
	}
}
