package analyze

import (
	"strings"

	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/scan"
)

// onPacketEnd calls f where a packet comes to its end, by whichever of the events the
// recording has. Several of them may tell of the same end; the first one counts.
func onPacketEnd(in *engine.Input, without string, f func(r *engine.Row, dropped bool)) {
	end := func(r *engine.Row) { f(r, false) }
	in.Use("skb_consume", without, end)
	in.Use("skb_free", "", end)
	in.Use("skb_drop", without, func(r *engine.Row) { f(r, true) })
}

// innermost is the part of a folded stack that holds its last n frames.
func innermost(stack string, n int) string {
	for i := len(stack); n > 0; n-- {
		if i = strings.LastIndexByte(stack[:i], ';'); i < 0 {
			return stack
		}
		if n == 1 {
			return stack[i+1:]
		}
	}
	return stack
}

// packetEnds are source and destination of a packet, with their ports if it has any.
func packetEnds(r *engine.Row, saddr, sport, daddr, dport scan.Col) (from, to string) {
	if !r.Has(sport) && !r.Has(dport) {
		return r.Str(saddr), r.Str(daddr)
	}
	return line.EndOf(r.Str(saddr), r.Int(sport)), line.EndOf(r.Str(daddr), r.Int(dport))
}

// packetFlow is the way of a packet: its source and destination.
type packetFlow struct {
	saddr, daddr string
	sport, dport int64
}

// busy is the answer of a driver that has no room: the packet will be sent again.
const busy = 16
