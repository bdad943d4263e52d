package turns

import "testing"

// A write bigger than the send buffer waits for the acknowledgement of its first part, which the peer
// delays by 40 ms. The round trip that the kernel added to the smoothed one says when that part was sent.
// Without the next segment nobody knows.
func TestFirstAcknowledgementOfACall(t *testing.T) {
	const before, trip = 16 * ms, 40 * ms
	for _, c := range []struct {
		name string
		next int64 // smoothed round trip in the row of the next segment, 0 if none comes
		want Split
		long int64
	}{
		{"known", (7*before + trip) / 8, Split{Connecting: 2 * ms, Idle: 5 * ms, HeldSndbuf: 40 * ms, InFlight: 1 * ms}, 41 * ms},
		{"unknown", 0, Split{Connecting: 2 * ms, Idle: 45 * ms, InFlight: 1 * ms}, 1 * ms},
	} {
		s := newSide(false)
		s.State(0, "SYN_SENT", nil, true)
		s.State(2*ms, "ESTABLISHED", &s.p, true)
		// A call at 7 ms writes what there is room for, and the rest when that is acknowledged.
		s.p.Written += 5000
		s.p.Sent = s.p.Written
		first := Segment{Positions: s.p, Window: 1 << 20, Cwnd: 10, InFlight: 5, MSS: 1000, LeastRTT: 1 * ms, Smoothed: before, BufferFull: true, Acks: 5000}
		s.Segment(47*ms, &first)
		s.p.Acked = s.p.Sent
		s.writes(47*ms, 300)
		if c.next != 0 {
			next := Segment{Positions: s.p, Window: 1 << 20, Cwnd: 10, InFlight: 1, MSS: 1000, LeastRTT: 1 * ms, Smoothed: c.next, Acks: 300}
			s.Segment(48*ms, &next)
		}
		s.State(48*ms, "CLOSE", nil, true)
		t.Run(c.name, func(t *testing.T) {
			s.check(t, c.want)
			if len(s.turns) != 1 || s.turns[0].End-s.turns[0].Start != c.long {
				t.Errorf("turns: %+v, want one of %d ns", s.turns, c.long)
			}
		})
	}
}
