package turns

import (
	"math/rand/v2"
	"testing"
)

const ms = 1e6

// side is one end of a connection in a test, by bytes since its beginning.
type side struct {
	Conn
	turns []Turn
	p     Positions
}

func newSide(passive bool) *side {
	s := &side{p: Positions{Written: ^uint32(9), Sent: ^uint32(9), Acked: ^uint32(9), Arrived: 5, Read: 5}} // sequence numbers wrap on the way
	s.Passive, s.OnTurn = passive, func(t *Turn) { s.turns = append(s.turns, *t) }
	return s
}

func (s *side) writes(at int64, n uint32) {
	s.p.Written += n
	s.p.Sent = s.p.Written
	s.Call(at, s.p, int64(n), false)
}

func (s *side) reads(at int64) {
	s.p.Read = s.p.Arrived
	s.Call(at, s.p, 0, false)
}

// hears is a segment with n bytes that acknowledges everything.
func (s *side) hears(at int64, n uint32) {
	g := Segment{Positions: s.p, Window: 1 << 20, Cwnd: 10, MSS: 1000, LeastRTT: 1 * ms, Payload: int64(n), Acks: int64(s.p.Sent - s.p.Acked)}
	g.InFlight = (g.Acks + 999) / 1000
	s.Segment(at, &g)
	s.p.Acked, s.p.Arrived = s.p.Sent, s.p.Arrived+n
}

func (s *side) check(t *testing.T, want Split) {
	t.Helper()
	if s.Split != want {
		t.Errorf("split %v, want %v", s.Split, want)
	}
	if sum := s.Split.Total(); sum != s.End-s.Start {
		t.Errorf("the split sums up to %d ns of %d", sum, s.End-s.Start)
	}
	for _, turn := range s.turns {
		if sum := turn.Split.Total(); sum != turn.End-turn.Start {
			t.Errorf("turn %+v: the split sums up to %d ns of %d", turn, sum, turn.End-turn.Start)
		}
	}
}

func TestAskerWaitsForThePeer(t *testing.T) {
	s := newSide(false)
	s.State(0, "SYN_SENT", nil, true)
	s.State(2*ms, "ESTABLISHED", &s.p, true)
	s.writes(5*ms, 100)  // idle for 3 ms
	s.hears(35*ms, 500)  // in flight for 1 ms, as the least round trip, then 29 ms of thought
	s.reads(39 * ms)     // 4 ms unread
	s.writes(60*ms, 100) // idle for 21 ms
	s.hears(61*ms, 0)    // acknowledged at once
	s.hears(71*ms, 500)  // 10 ms of thought
	s.reads(72 * ms)
	s.State(80*ms, "CLOSE", nil, true)
	s.check(t, Split{Connecting: 2 * ms, Idle: (3 + 21 + 8) * ms, InFlight: 2 * ms, PeerThinking: 39 * ms, AppNotReading: 5 * ms})
	if len(s.turns) != 2 || s.turns[0].End-s.turns[0].Start != 34*ms || s.turns[1].End-s.turns[1].Start != 12*ms {
		t.Errorf("turns: %+v", s.turns)
	}
	if s.turns[0].Estimated != 29*ms || s.turns[1].Estimated != 0 || s.Estimated != 29*ms {
		t.Errorf("estimated: %d ns of %d and %d", s.Estimated, s.turns[0].Estimated, s.turns[1].Estimated)
	}
}

func TestAnswererThinks(t *testing.T) {
	s := newSide(true)
	s.State(0, "SYN_RECV", nil, true)
	s.State(1*ms, "ESTABLISHED", &s.p, true)
	s.hears(2*ms, 10)
	s.Accept(8 * ms)
	s.reads(9 * ms)
	s.writes(29*ms, 300)
	s.hears(30*ms, 0)
	s.hears(90*ms, 10)
	s.Finish(91 * ms)
	s.check(t, Split{Connecting: 1 * ms, AcceptQueue: 7 * ms, AppNotReading: 2 * ms, AppThinking: 20 * ms, InFlight: 1 * ms, Idle: 60 * ms})
	if len(s.turns) != 2 || s.turns[0].Start != 2*ms || s.turns[0].End != 29*ms || !s.turns[1].Unfinished {
		t.Errorf("turns: %+v", s.turns)
	}
}

// A question in parts: between them the asker thinks, if an answer comes.
func TestQuestionInParts(t *testing.T) {
	for _, passive := range []bool{false, true} {
		s := newSide(passive)
		thinks := AppThinking
		say, hear := func(at int64) { s.writes(at, 10); s.hears(at+1*ms, 0) }, func(at int64) { s.hears(at, 10); s.reads(at) }
		if passive {
			say, hear, thinks = hear, say, PeerThinking
		}
		s.hears(0, 0)
		say(0)
		say(11 * ms)
		hear(31 * ms)
		s.Finish(40 * ms)
		if s.Split[thinks] < 10*ms || s.Split.Total() != 40*ms || len(s.turns) != 1 || s.turns[0].Asked != 20 {
			t.Errorf("passive %v: %v, turns %+v", passive, s.Split, s.turns)
		}
	}
}

func TestLossIsRecovery(t *testing.T) {
	s := newSide(false)
	s.writes(0, 100)
	s.Retransmit(200 * ms)
	s.hears(201*ms, 50)
	s.reads(201 * ms)
	s.Finish(201 * ms)
	s.check(t, Split{Recovery: 201 * ms})
}

// An answer that was sent twice ends with its acknowledgement, also where that comes with the next question.
func TestRepeatedAnswerEndsWithTheNextQuestion(t *testing.T) {
	for _, alone := range []bool{true, false} {
		s := newSide(true)
		s.State(0, "ESTABLISHED", &s.p, false)
		s.hears(1*ms, 10)
		s.reads(1 * ms)
		s.writes(2*ms, 300)
		s.Retransmit(210 * ms)
		if alone {
			s.hears(341*ms, 0)
		}
		s.hears(341*ms, 10)
		s.reads(341 * ms)
		s.writes(342*ms, 300)
		s.Finish(342 * ms)
		s.check(t, Split{Idle: 1 * ms, AppThinking: 2 * ms, Recovery: 339 * ms})
		if len(s.turns) != 2 || s.turns[0].End != 341*ms || s.turns[0].Unfinished || s.turns[0].Overlap || s.turns[1].End != 342*ms {
			t.Errorf("acknowledged alone %v: turns %+v", alone, s.turns)
		}
	}
}

// On a path that dies, bytes are left that the windows would let go: from the newest acknowledgement on that is no
// pacing, and neither is what the congestion window held back until the timeout. A peer's window that turns out to be
// closed comes first: then the retransmissions were probes.
func TestDeadPathIsRecovery(t *testing.T) {
	for _, k := range []struct {
		cwnd, answer int64 // segments that may be in flight; the window in the peer's answer, -1 for none
		want         Split
	}{
		{10, -1, Split{Recovery: 2000 * ms}},
		{2, -1, Split{Recovery: 2000 * ms}},
		{10, 1 << 20, Split{Recovery: 2000 * ms}},
		{10, 2000, Split{PeerWindow: 2000 * ms}},
	} {
		s := newSide(false)
		s.State(0, "ESTABLISHED", &s.p, false)
		s.p.Written, s.p.Sent = s.p.Written+50_000, s.p.Sent+2000
		s.Call(0, s.p, 50_000, false)
		s.Segment(0, &Segment{Positions: s.p, Window: 1 << 20, Cwnd: k.cwnd, InFlight: 2, MSS: 1000})
		s.Retransmit(300 * ms)
		s.Retransmit(900 * ms)
		if k.answer >= 0 {
			s.Segment(2000*ms, &Segment{Positions: s.p, Window: k.answer, Cwnd: 10, InFlight: 2, MSS: 1000})
		}
		s.Finish(2000 * ms)
		s.check(t, k.want)
	}
}

func TestHeldBack(t *testing.T) {
	for want, change := range map[Wait]func(*Segment){
		PeerWindow: func(g *Segment) { g.Window = 100 },
		HeldCwnd:   func(g *Segment) { g.Cwnd = 1 },
		HeldNagle:  func(*Segment) {},
		HeldSndbuf: func(g *Segment) { g.Sent = g.Written },
		HeldPacing: func(g *Segment) { g.Sent = g.Acked },
	} {
		s := newSide(false)
		s.hears(0, 0)
		s.p.Written, s.p.Sent = s.p.Written+200, s.p.Sent+100
		s.Call(1*ms, s.p, 0, want == HeldSndbuf)
		g := Segment{Positions: s.p, Window: 1 << 20, Cwnd: 10, MSS: 1000, InFlight: 1, LeastRTT: 1 * ms}
		change(&g)
		s.Segment(11*ms, &g)
		s.Finish(11 * ms)
		if s.Split[want] != 10*ms {
			t.Errorf("%v: %v", want, s.Split)
		}
	}
}

// A full buffer holds back whoever writes, and nobody else.
func TestFullBuffer(t *testing.T) {
	for _, writes := range []bool{true, false} {
		s := newSide(false)
		s.hears(0, 0)
		s.p.Written, s.p.Sent = s.p.Written+9000, s.p.Sent+9000
		g := Segment{Positions: s.p, Window: 1 << 20, Cwnd: 10, MSS: 1000, InFlight: 9, LeastRTT: 1 * ms, BufferFull: true}
		s.Segment(1*ms, &g)
		if !writes {
			s.Call(1*ms, s.p, 9000, false)
		}
		s.Segment(11*ms, &g)
		s.Finish(11 * ms)
		if held := s.Split[HeldSndbuf] == 10*ms; held != writes || s.Split.Total() != 11*ms {
			t.Errorf("a call is writing: %v, %v", writes, s.Split)
		}
	}
}

// The end of what fits into a full buffer is less than a segment, and waits: for room, which would fill the segment.
func TestFullBufferIsNotNagle(t *testing.T) {
	s := newSide(false)
	s.hears(0, 0)
	s.p.Written, s.p.Sent = s.p.Written+9100, s.p.Sent+9000
	s.Call(0, s.p, 9100, true)
	s.Segment(10*ms, &Segment{Positions: s.p, Window: 1 << 20, Cwnd: 10, MSS: 1000, InFlight: 9, LeastRTT: 1 * ms, BufferFull: true})
	s.Finish(10 * ms)
	s.check(t, Split{HeldSndbuf: 10 * ms})
}

// A server that speaks first owes its greeting. What it pushes after that, nobody waits for.
func TestPushesAreIdle(t *testing.T) {
	for passive, thinks := range map[bool]Wait{true: AppThinking, false: PeerThinking} {
		s := newSide(passive)
		s.State(0, map[bool]string{true: "SYN_RECV", false: "SYN_SENT"}[passive], nil, false)
		s.State(1*ms, "ESTABLISHED", &s.p, false)
		for _, at := range []int64{21 * ms, 121 * ms, 221 * ms} {
			if passive {
				s.writes(at, 100)
				s.hears(at, 0)
			} else {
				s.hears(at, 100)
				s.reads(at)
			}
		}
		s.Finish(221 * ms)
		want := Split{Connecting: 1 * ms, Idle: 200 * ms}
		want[thinks] = 20 * ms
		s.check(t, want)
	}
}

func TestSharesOfWhatIsNotIdle(t *testing.T) {
	for want, s := range map[string]Split{
		"app thinking 50.0 %, idle 50.0 %":                          {AppThinking: 5, Idle: 5},
		"idle 98.0 %, rest: app thinking 75.0 %, in flight 25.0 %":  {AppThinking: 15, InFlight: 5, Idle: 980},
		"idle 99.9 %, rest: peer thinking 60.0 %, in flight 40.0 %": {PeerThinking: 6, InFlight: 4, Idle: 1e6},
		"idle 100.0 %": {Idle: 7},
	} {
		if got := s.Shares(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Bytes that cross are both questions or both answers; the turn says so.
func TestOverlap(t *testing.T) {
	s := newSide(true)
	s.hears(0, 10)
	s.reads(1 * ms)
	s.writes(2*ms, 500)
	s.Segment(3*ms, &Segment{Positions: s.p, Window: 1 << 20, Cwnd: 10, MSS: 1000, Payload: 10, Acks: 200})
	s.Finish(4 * ms)
	if len(s.turns) != 2 || !s.turns[0].Overlap || !s.turns[1].Overlap {
		t.Errorf("turns: %+v", s.turns)
	}
}

// Whatever comes, in whatever order, every nanosecond is in one place.
func TestSumsOfAnything(t *testing.T) {
	states := []string{"SYN_SENT", "SYN_RECV", "ESTABLISHED", "CLOSE_WAIT", "FIN_WAIT1", "FIN_WAIT2", "LAST_ACK", "CLOSING"}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		s, at := newSide(r.IntN(2) == 0), int64(0)
		for range 60 {
			at += r.Int64N(50 * ms)
			switch r.IntN(9) {
			case 0:
				s.State(at, states[r.IntN(len(states))], &s.p, r.IntN(2) == 0)
			case 1:
				s.Accept(at)
			case 2:
				s.Retransmit(at)
			case 3:
				s.p = Positions{r.Uint32(), r.Uint32(), r.Uint32(), r.Uint32(), r.Uint32()}
				s.Call(at, s.p, r.Int64N(100), r.IntN(2) == 0)
			case 4:
				s.writes(at, r.Uint32N(3000))
			case 5:
				s.reads(at)
			case 6:
				s.p.Written += r.Uint32N(3000)
				s.Segment(at, &Segment{Positions: s.p, Window: r.Int64N(3000), Cwnd: r.Int64N(4), MSS: r.Int64N(1500), InFlight: r.Int64N(5),
					LeastRTT: r.Int64N(5 * ms), Smoothed: r.Int64N(9 * ms), Recovering: r.IntN(5) == 0, BufferFull: r.IntN(5) == 0, Payload: r.Int64N(200), Acks: r.Int64N(500) - 100, Gap: r.Int64N(30) - 15})
			default:
				s.hears(at, r.Uint32N(500))
			}
		}
		s.Finish(at)
		s.check(t, s.Split)
		for w, ns := range s.Split {
			if ns < 0 {
				t.Errorf("seed %d: %d ns of %v", seed, ns, Wait(w))
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// Between calls nobody tells the window and how many segments are in flight: the next segment does, and what is held back
// for neither reason is left to pacing.
func TestNextSegmentTellsWhatHeldBack(t *testing.T) {
	for want, seen := range map[Wait]Segment{
		PeerWindow: {Window: 2000, Cwnd: 10, InFlight: 1},
		HeldCwnd:   {Window: 1 << 20, Cwnd: 2, InFlight: 2},
		HeldPacing: {Window: 1 << 20, Cwnd: 10, InFlight: 2},
	} {
		s := newSide(true)
		s.State(0, "ESTABLISHED", &s.p, false)
		s.hears(1*ms, 100)
		s.reads(1 * ms)
		s.p.Written += 50_000
		s.p.Sent += 2000
		s.Call(2*ms, s.p, 50_000, false) // of an answer, most of which stays here
		s.Call(12*ms, s.p, 0, true)      // a call that says nothing new
		seen.Positions, seen.MSS = s.p, 1000
		s.Segment(32*ms, &seen)
		s.Finish(32 * ms)
		all := Split{Idle: 1 * ms, AppThinking: 1 * ms}
		all[want] = 30 * ms
		s.check(t, all)
	}
}
