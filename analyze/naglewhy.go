package analyze

import "netrec/analyze/engine"

// Bits of the Nagle flags.
const (
	nagleOff, nagleCork, naglePush = 1, 2, 4
)

// reason is why data that is queued was not sent. Sequence numbers wrap, so differences
// decide.
func (f *tcpnagle) reason(r *engine.Row) text {
	nxt, mss, out, flags := uint32(r.Int(f.nxt)), r.Int(f.mss), r.Int(f.out), r.Int(f.nonagle)
	queued, room := int64(int32(uint32(r.Int(f.write))-nxt)), int64(int32(uint32(r.Int(f.una))+uint32(r.Int(f.wnd))-nxt))
	switch {
	case queued <= 0:
		return "nothing queued"
	case room < min(queued, mss):
		return "peer window"
	case out >= r.Int(f.cwnd):
		return "congestion window"
	case queued < mss && flags&(nagleCork|naglePush) == nagleCork:
		return "cork"
	case queued < mss && out > 0 && flags&(nagleOff|naglePush) == 0:
		return "nagle"
	}
	return "pacing or queue limit"
}

// wait follows data that stays queued, whatever is in flight.
func (f *tcpnagle) wait(s *blocked, r *engine.Row, nxt uint32) {
	if sent := int32(nxt-s.nxt) > 0; sent && s.held != 0 {
		f.held.Add(s.reason, (r.TS-s.held)/1000)
		s.held = 0
	}
	if why := f.reason(r); s.held == 0 && (nxt == s.nxt || r.Int(f.ret) != 0) && why != "nothing queued" {
		s.held, s.reason = r.TS, why
	}
}
