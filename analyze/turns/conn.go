package turns

// stage is how far the connection is.
type stage uint8

const (
	unknown stage = iota // nothing was seen yet
	connecting
	queued // for accept(2)
	open
	over
)

// phase is where in a turn the connection is.
type phase uint8

const (
	quiet phase = iota // no question is open
	asking
	answering
)

// Conn is one end of a connection. Set Passive and OnTurn before the first event.
type Conn struct {
	Passive bool        // the peer connected, so the peer asks
	OnTurn  func(*Turn) // called at the end of every turn; the turn is reused

	Start     int64 // ns, of the first event
	End       int64 // ns, of the newest event
	Split     Split // of End - Start, once the connection is over
	Estimated int64 // ns of Split that the least round trip decided

	stage stage
	phase phase

	written, sent, acked, arrived, read place
	finIn, finOut                       int64 // where data ends, once a FIN was seen; see clamp

	window, cwnd, packets, mss int64
	least                      int64 // least round trip, ns; 0 if it is not known
	loss, resent               bool  // TCP recovers from a loss; this end retransmitted and nothing was acknowledged since
	full, blocked              bool  // the send buffer is; a send found it so, and none did better since
	writing                    bool  // a send that has not returned wrote something
	lossy                      bool  // something was retransmitted in this turn
	greeted                    bool  // the side that answers has said something, or may have before the recording

	flown, excess int64 // ns in flight since the newest send or acknowledgement, and beyond the least round trip
	choked        int64 // likewise: ns held back by the congestion window
	gap           int64 // ns in which everything is acknowledged and read; who owed bytes is told by what comes next
	unclear       int64 // ns in which bytes were not sent for no reason that is known yet: the next segment has the kernel's numbers
	pauses        int64 // ns between parts of a question, told by whether an answer comes

	first Segment  // of which is asked how long its round trip was; see puts
	late  []func() // it and the calls since; empty if there is none
	trip  int64    // its round trip, ns, while it is taken; 0 if that is not known

	turn   Turn
	before Split // at the start of the turn
	est    int64 // likewise
	marked bool  // End and Split of the turn are those of the bytes seen so far
}

// place is a position in a stream of bytes, without the limit of a sequence number.
type place struct {
	seq uint32
	at  int64
}

// to is the position of another sequence number nearby.
func (p place) to(seq uint32) place { return place{seq, p.at + int64(int32(seq-p.seq))} }

// Positions are the kernel's write_seq, snd_nxt, snd_una, rcv_nxt and copied_seq, each less where its
// direction began.
type Positions struct{ Written, Sent, Acked, Arrived, Read uint32 }

// without is where the stream was before so many bytes were written.
func (p Positions) without(bytes int64) Positions {
	p.Written -= uint32(bytes)
	if int32(p.Sent-p.Written) > 0 {
		p.Sent = p.Written
	}
	if int32(p.Acked-p.Written) > 0 {
		p.Acked = p.Written
	}
	return p
}

// begin takes the first positions.
func (c *Conn) begin(p Positions) {
	c.stage, c.finIn, c.finOut = open, far, far
	c.read = place{p.Read, 0}
	c.arrived = c.read.to(p.Arrived)
	c.acked = place{p.Acked, 0}
	c.sent, c.written = c.acked.to(p.Sent), c.acked.to(p.Written)
}

const far = 1 << 62

// advance puts the time since the event before into what was waited for.
func (c *Conn) advance(at int64) {
	ns := at - c.End
	if ns <= 0 {
		return
	}
	c.End = at
	switch w := c.waiting(); w {
	case c.guess():
		c.unclear += ns
	case Waits:
		c.gap += ns
	case InFlight:
		c.fly(ns)
	case HeldCwnd:
		c.Split[w] += ns
		c.choked += ns
	default:
		c.Split[w] += ns
	}
}

// waiting is what is waited for now, Waits for a gap.
func (c *Conn) waiting() Wait {
	switch {
	case c.stage == connecting:
		return Connecting
	case c.stage == queued:
		return AcceptQueue
	case c.arrived.at > c.read.at:
		return AppNotReading
	case c.written.at > c.acked.at:
		return c.sending()
	}
	return Waits
}

// sending is why bytes that were written are not acknowledged.
func (c *Conn) sending() Wait {
	unsent := c.written.at - c.sent.at
	switch {
	case c.loss:
		return Recovery
	case unsent > 0 && c.mss > 0 && c.acked.at+c.window-c.sent.at < min(unsent, c.mss):
		return PeerWindow
	case c.resent: // maybe a probe, which a peer provokes that reads nothing: so after its window
		return Recovery
	case unsent > 0 && c.cwnd > 0 && c.packets >= c.cwnd:
		return HeldCwnd
	case unsent > 0 && c.sent.at > c.acked.at && unsent < c.mss:
		if c.buffered() { // who may not write more cannot fill the segment
			return HeldSndbuf
		}
		return HeldNagle
	case unsent > 0:
		return HeldPacing
	case c.buffered():
		return HeldSndbuf
	}
	return InFlight
}

// buffered reports whether a send waits for room in the buffer: a full one that nobody wants to write to holds
// nothing back.
func (c *Conn) buffered() bool { return c.blocked || c.full && c.writing }

// settle puts what was unclear into what it turned out to be.
func (c *Conn) settle(w Wait) {
	c.Split[w] += c.unclear
	c.unclear = 0
}

// guess is why bytes are not sent if no segment comes that tells.
func (c *Conn) guess() Wait {
	if c.resent && !c.loss && c.written.at > c.sent.at {
		return Recovery
	}
	return HeldPacing
}

// held is what kept bytes from being sent since the segment before, by the window and the counts that the
// kernel had until this one. Calls in between do not tell them.
func (c *Conn) held() Wait {
	if c.written.at > c.acked.at {
		return c.sending()
	}
	return c.guess()
}

// delayed is how many segments a receiver may leave unacknowledged for a while.
const delayed = 2

// fly accounts for time in flight. Few segments may be acknowledged late, with the answer or by
// a timer: then they were on their way for the least round trip, and the rest is a gap.
func (c *Conn) fly(ns int64) {
	flown := ns
	if c.least > 0 && c.packets <= delayed {
		flown = min(ns, max(0, c.least-c.flown))
	}
	c.Split[InFlight] += flown
	c.flown += flown
	c.gap += ns - flown
	c.excess += ns - flown
	c.Estimated += ns - flown
}

// apply takes new positions.
func (c *Conn) apply(at int64, p Positions) {
	written, arrived := c.written.to(p.Written).clamp(c.finOut), c.arrived.to(p.Arrived).clamp(c.finIn)
	wrote, came := written.at-c.written.at, arrived.at-c.arrived.at
	c.transmitted(c.sent.to(p.Sent).clamp(c.finOut), c.acked.to(p.Acked).clamp(c.finOut))
	if c.Passive {
		c.ask(at, came)
		c.answer(at, wrote)
	} else {
		c.ask(at, wrote)
		c.answer(at, came)
	}
	c.written, c.arrived, c.read = written, arrived, c.read.to(p.Read).clamp(c.finIn)
	c.mark(at)
}

func (p place) clamp(end int64) place {
	if p.at > end {
		p.seq -= uint32(p.at - end)
		p.at = end
	}
	return p
}

// transmitted takes how far bytes were sent and acknowledged.
func (c *Conn) transmitted(sent, acked place) {
	if sent.at > c.sent.at || acked.at > c.acked.at {
		c.flown, c.excess, c.choked = 0, 0, 0
	}
	if acked.at > c.acked.at && c.resent {
		c.settle(c.guess())
		c.resent = false
	}
	c.sent, c.acked = sent, acked
	if c.acked.at >= c.written.at {
		c.loss = false
	}
	if c.mss > 0 {
		c.packets = (c.sent.at - c.acked.at + c.mss - 1) / c.mss
	}
}
