package analyze

import (
	"cmp"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/shape"
)

func (f *tcpnagle) unsent(r *engine.Row) agg.Unsent {
	return agg.Unsent{Una: uint32(r.Int(f.una)), Nxt: uint32(r.Int(f.nxt)), Write: uint32(r.Int(f.write)), Wnd: uint32(r.Int(f.wnd)),
		MSS: r.Int(f.mss), Out: r.Int(f.out), Cwnd: r.Int(f.cwnd), Flags: r.Int(f.nonagle)}
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
	if f.shared && !f.unsent(r).Followed(r.Int(f.ret) != 0) {
		f.skipped++
		return
	}
	if why := f.reason(r); s.held == 0 && (nxt == s.nxt || r.Int(f.ret) != 0) && why != "nothing queued" {
		s.held, s.reason = r.TS, shape.AndText{Key: f.others.Of(r), Text: string(why)}
	}
}
