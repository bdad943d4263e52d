package turns

// The side that asks thinks while it asks, the other one while it answers.
func (c *Conn) asker() Wait {
	if c.Passive {
		return PeerThinking
	}
	return AppThinking
}

func (c *Conn) answerer() Wait {
	if c.Passive {
		return AppThinking
	}
	return PeerThinking
}

// spend puts a gap into what it turned out to be.
func (c *Conn) spend(w Wait) {
	c.Split[w] += c.gap
	c.gap, c.excess = 0, 0
}

// ask takes n further bytes of a question.
func (c *Conn) ask(at, n int64) {
	if n <= 0 {
		return
	}
	if c.phase == asking {
		c.pauses += c.gap
		c.gap, c.excess = 0, 0
		c.turn.Asked += n
		return
	}
	c.spend(Idle)
	// Bytes of the answer before are not read yet, so the asker did not wait for them.
	overlap := c.phase == answering && !c.Passive && c.arrived.at > c.read.at
	c.turn.Overlap = c.turn.Overlap || overlap
	c.settle(c.guess())
	c.finish()
	c.phase, c.before, c.est, c.flown, c.choked, c.lossy = asking, c.Split, c.Estimated, 0, 0, false
	c.turn = Turn{Start: at, Asked: n, Overlap: overlap}
}

// answer takes n further bytes of an answer, or of what nobody asked for.
func (c *Conn) answer(at, n int64) {
	if n <= 0 {
		return
	}
	if c.phase == quiet && c.greeted { // nobody asked for it, so nobody owed it
		c.spend(Idle)
		return
	}
	c.spend(c.answerer())
	if c.greeted = true; c.phase == quiet {
		return
	}
	if c.phase == asking {
		c.phase, c.turn.FirstByte = answering, at
		c.Split[c.asker()] += c.pauses
		c.pauses = 0
	}
	c.turn.Answered += n
	c.marked = false
}

// mark notes the end of the turn, should no more bytes of the answer come.
func (c *Conn) mark(at int64) {
	if c.phase != answering || c.marked {
		return
	}
	if c.Passive && (c.sent.at < c.written.at || c.lossy && c.acked.at < c.written.at) || !c.Passive && c.read.at < c.arrived.at {
		return
	}
	c.marked = true
	c.spend(c.answerer())
	c.close(at)
}

// close makes the moment the end of the turn.
func (c *Conn) close(at int64) {
	c.settle(c.guess())
	c.turn.End, c.turn.Split, c.turn.Estimated = at, c.Split.less(&c.before), c.Estimated-c.est
}

// finish ends the turn, at the last byte of its answer or unfinished.
func (c *Conn) finish() {
	if c.phase == quiet {
		return
	}
	if c.phase == asking || !c.marked {
		c.turn.Unfinished = true
		c.close(c.End)
	}
	c.phase, c.marked = quiet, false
	if c.OnTurn != nil {
		c.OnTurn(&c.turn)
	}
}

// giveUp ends a question that will not be answered.
func (c *Conn) giveUp() {
	if c.phase != asking {
		return
	}
	c.spend(c.answerer())
	c.Split[Idle] += c.pauses
	c.pauses = 0
	c.finish()
}
