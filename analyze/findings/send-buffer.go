package findings

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/turns"
)

var sendBuffer = Rule{
	Name: "send-buffer", Default: 30, Unit: Percent, Any: turnEvents,
	About:    "share of the time with data to send in which only a full send buffer holds a connection back",
	Explains: []string{"slow-answers", "stalled-answers"},
	New:      newSendBuffer,
}

// heldLeast is how long the send buffer must hold a connection back in all.
const heldLeast = 200e6

func newSendBuffer(in *engine.Input, limit float64, found *Shelf) func() {
	found.flows.follow(nil, func(c *turns.Followed) {
		held := c.Split[turns.HeldSndbuf]
		percent := 100 * float64(held) / float64(max(1, outgoing(&c.Split)))
		if held < heldLeast || percent < limit {
			return
		}
		found.Add(Finding{Level: Slow, Over: percent / limit, At: c.Start, Next: show("tcpwin", c.Sock),
			What:     fmt.Sprintf("%s is limited by its send buffer for %s, %.0f %% of the time with data to send", subject(c.Sock), span(held), percent),
			Evidence: "everything that fits is in flight, the windows have room for more; a larger SO_SNDBUF, or none, avoids it"}.of(c.Sock))
	})
	return func() {}
}

// outgoing is the time in which a connection had data to send or in flight.
func outgoing(s *turns.Split) (ns int64) {
	for w := turns.HeldSndbuf; w <= turns.Recovery; w++ {
		ns += s[w]
	}
	return ns
}
