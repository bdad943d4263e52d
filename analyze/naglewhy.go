package analyze

import (
	"cmp"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// andText is a key of the user's choice with one more, a string.
type andText struct {
	key engine.Key
	s   string
}

func (k andText) Put(t *render.Table) {
	k.key.Put(t)
	t.Str(k.s)
}

func (k andText) Compare(o andText) int { return cmp.Or(k.key.Compare(o.key), cmp.Compare(k.s, o.s)) }

func (f *tcpnagle) unsent(r *engine.Row) agg.Unsent {
	return agg.Unsent{Una: uint32(r.Int(f.una)), Nxt: uint32(r.Int(f.nxt)), Write: uint32(r.Int(f.write)), Wnd: uint32(r.Int(f.wnd)),
		MSS: r.Int(f.mss), Out: r.Int(f.out), Cwnd: r.Int(f.cwnd), Flags: r.Int(f.nonagle)}
}

// reason is why data that is queued was not sent.
func (f *tcpnagle) reason(r *engine.Row) text {
	return text(cmp.Or(f.unsent(r).Why(), "nothing queued"))
}

// wait follows data that stays queued, whatever is in flight.
func (f *tcpnagle) wait(s *blocked, r *engine.Row, nxt uint32) {
	if sent := int32(nxt-s.nxt) > 0; sent && s.held != 0 {
		f.held.Add(s.reason, (r.TS-s.held)/1000)
		s.held = 0
	}
	if f.shared && !f.unsent(r).Followed(r.Int(f.ret) != 0) {
		f.skipped++
		return
	}
	if why := f.reason(r); s.held == 0 && (nxt == s.nxt || r.Int(f.ret) != 0) && why != "nothing queued" {
		s.held, s.reason = r.TS, andText{f.others.Of(r), string(why)}
	}
}
