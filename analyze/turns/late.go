package turns

// A call that writes is seen when it returns. One that has to wait for room has sent bytes long before,
// and the first sign of them is their acknowledgement. How long they were on their way then is in the
// row of the next segment: the kernel adds an eighth of each round trip to seven eighths of what it
// knew, and both are recorded. So such an acknowledgement waits for the next segment.

// delayedAck is how long Linux delays an acknowledgement at least, less what a timer's tick may take
// off. A shorter round trip is left to the least one, by which SQL dates turns as well.
const delayedAck = 38e6

// mostLate is how many calls may wait with it.
const mostLate = 64

// puts keeps a segment that acknowledges the first bytes of a call that waits for room, where nothing
// else was on its way, and reports whether it did.
func (c *Conn) puts(at int64, s *Segment) bool {
	wrote := c.written.to(s.Written).at > c.written.at
	if c.stage != open || !wrote || s.Acks <= 0 || s.Smoothed <= 0 || !s.BufferFull || s.Recovering || c.acked.at < c.written.at || at <= c.End {
		return false
	}
	c.first = *s
	return true
}

// behind reports whether events have to wait.
func (c *Conn) behind() bool {
	if len(c.late) >= mostLate {
		c.release(0)
	}
	return len(c.late) > 0
}

// release takes what waited, with the smoothed round trip of the segment that follows, 0 if none does.
func (c *Conn) release(smoothed int64) {
	if len(c.late) == 0 {
		return
	}
	late := c.late
	c.late = nil
	if trip := 8*smoothed - 7*c.first.Smoothed; smoothed > 0 && trip >= delayedAck {
		c.trip = trip
	}
	for i, take := range late {
		if take(); i == 0 {
			c.trip = 0
		}
	}
}
