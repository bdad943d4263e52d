package turns

// Segment is a segment that reached an established socket, and the state of the connection
// before it was processed.
type Segment struct {
	Positions
	Window     int64 // bytes the peer offers
	Cwnd       int64 // segments
	InFlight   int64 // segments
	MSS        int64 // bytes
	LeastRTT   int64 // ns; 0 if it is not known
	Smoothed   int64 // smoothed round trip, ns; 0 if it is not known
	Recovering bool  // congestion control repairs a loss
	BufferFull bool  // the send buffer is
	Payload    int64 // bytes it carries
	Acks       int64 // bytes it acknowledges anew
	Gap        int64 // bytes missing before it; below 0 for bytes that it repeats
}

// Segment takes a segment.
func (c *Conn) Segment(at int64, s *Segment) {
	c.release(s.Smoothed)
	if !c.ready(at, s.Positions) {
		return
	}
	if c.puts(at, s) {
		c.late = append(c.late, func() { c.segment(at, &c.first) })
		return
	}
	c.segment(at, s)
}

func (c *Conn) segment(at int64, s *Segment) {
	c.window, c.cwnd, c.mss, c.full, c.loss = s.Window, s.Cwnd, s.MSS, s.BufferFull, s.Recovering
	if s.LeastRTT > 0 && (c.least == 0 || s.LeastRTT < c.least) {
		c.least = s.LeastRTT
	}
	c.catchUp(at, s)
	c.packets = s.InFlight
	c.settle(c.held())
	c.advance(at)
	c.settle(c.guess())
	c.apply(at, s.Positions)
	c.process(at, s)
	c.full = false
}

// process takes what the segment brings.
func (c *Conn) process(at int64, s *Segment) {
	p := s.Positions
	p.Acked += uint32(max(0, s.Acks))
	c.apply(at, p) // what it acknowledges may end a turn before what it carries begins the next
	fresh := s.Payload + min(0, s.Gap)
	if s.Gap > 0 || fresh <= 0 {
		return
	}
	p.Arrived += uint32(fresh)
	// The peer sent it before it had all that this end had written. That goes for the turn that it
	// begins, too.
	both := c.phase != quiet && c.acked.at < c.written.at
	c.turn.Overlap = c.turn.Overlap || both
	c.apply(at, p)
	c.turn.Overlap = c.turn.Overlap || both
}

// catchUp takes what the calls of the application, which are only seen when they return, and the
// segment before this one did.
func (c *Conn) catchUp(at int64, s *Segment) {
	wrote := c.written.to(s.Written).at > c.written.at
	c.writing = c.writing || wrote
	p := s.Positions
	p.Arrived, p.Read = c.arrived.seq, c.read.seq
	if !wrote { // the segment before let bytes go
		p.Written = c.written.seq
		c.apply(c.End, p)
		return
	}
	// The first bytes of a call that is still busy writing were written a round trip ago. Where all is
	// acknowledged already, the peer is on this host, and the call about to return.
	trip := c.trip
	if trip == 0 && s.Acks > 0 && s.Acked+uint32(s.Acks) != s.Written {
		trip = c.least
	}
	if trip > 0 {
		c.advance(max(c.End, at-trip))
		c.apply(c.End, p)
	}
}

// Call takes a send or receive call when it returns, with the bytes that it wrote; blocked is a send that
// found no room.
func (c *Conn) Call(at int64, p Positions, bytes int64, blocked bool) {
	if c.behind() {
		c.late = append(c.late, func() { c.call(at, p, bytes, blocked) })
		return
	}
	c.call(at, p, bytes, blocked)
}

func (c *Conn) call(at int64, p Positions, bytes int64, blocked bool) {
	if !c.ready(at, p.without(bytes)) {
		return
	}
	c.advance(at)
	if c.stage == queued {
		c.stage = open // nobody saw it accepted
	}
	c.apply(at, p)
	if bytes > 0 || blocked {
		c.blocked, c.writing = blocked, false
	}
}

// Accept takes the moment at which a process took the connection.
func (c *Conn) Accept(at int64) {
	c.release(0)
	if c.stage == queued {
		c.advance(at)
		c.stage = open
	}
}

// Retransmit takes a retransmission. What was in flight since the last sign of progress waited for it, and so did
// what could not be sent meanwhile.
func (c *Conn) Retransmit(at int64) {
	c.release(0)
	if c.stage != open {
		return
	}
	c.advance(at)
	excess := min(c.excess, c.gap)
	c.Split[InFlight] -= c.flown
	c.Split[HeldCwnd] -= c.choked
	c.Split[Recovery] += c.flown + excess + c.choked
	c.gap -= excess
	c.Estimated -= excess
	c.flown, c.excess, c.choked, c.resent = 0, 0, 0, true
	c.marked, c.lossy = c.marked && !c.Passive, true
}

// ready begins a connection whose beginning was not seen, and reports whether it is still there.
func (c *Conn) ready(at int64, p Positions) bool {
	switch c.stage {
	case unknown:
		c.Start, c.End, c.greeted = at, at, true
		c.begin(p)
	case connecting:
		c.advance(at)
		c.begin(p)
	}
	return c.stage != over
}

// State takes a change of state by the kernel's names, with the positions then, nil before there is a
// connection. accepts says that Accept will be called.
func (c *Conn) State(at int64, to string, p *Positions, accepts bool) {
	c.release(0)
	switch to {
	case "LISTEN":
		return
	case "SYN_SENT", "SYN_RECV":
		if c.stage == unknown {
			c.Start, c.End, c.stage = at, at, connecting
			c.Passive = to == "SYN_RECV"
		}
		return
	case "CLOSE":
		c.Finish(at)
		return
	}
	handshake := c.stage == connecting
	if p == nil || !c.ready(at, *p) {
		return
	}
	c.advance(at)
	if handshake && c.Passive && accepts {
		c.stage = queued
	}
	c.fins(at, to, *p)
}

// fins takes the end of a stream: a FIN has a sequence number and is no data.
func (c *Conn) fins(at int64, to string, p Positions) {
	if (to == "CLOSE_WAIT" || to == "CLOSING") && c.finIn == far {
		c.finIn = c.arrived.to(p.Arrived).at - 1
	}
	c.apply(at, p)
	if to == "CLOSE_WAIT" && !c.Passive {
		c.giveUp()
	}
	if (to == "FIN_WAIT1" || to == "LAST_ACK") && c.finOut == far {
		c.finOut = c.written.at
		if c.Passive {
			c.giveUp()
		}
	}
}

// Forget leaves the connection out: too little is known of it.
func (c *Conn) Forget() {
	c.release(0)
	c.stage, c.End, c.Split, c.Estimated, c.unclear = over, c.Start, Split{}, 0, 0
}

// Finish ends the connection, or what the recording has of it.
func (c *Conn) Finish(at int64) {
	c.release(0)
	if c.stage == unknown || c.stage == over {
		c.stage = over
		return
	}
	c.advance(at)
	c.giveUp()
	c.spend(Idle)
	c.settle(c.guess())
	c.finish()
	c.stage = over
}
