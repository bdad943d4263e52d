package packets

import (
	"strings"

	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/scan"
)

// OnEnd calls f where a packet comes to its end, by whichever of the events the
// recording has. Several of them may tell of the same end; the first one counts.
func OnEnd(in *engine.Input, without string, f func(r *engine.Row, dropped bool)) {
	end := func(r *engine.Row) { f(r, false) }
	in.Use("skb_consume", without, end)
	in.Use("skb_free", "", end)
	in.Use("skb_drop", without, func(r *engine.Row) { f(r, true) })
}

// Innermost is the part of a folded stack that holds its last n frames.
func Innermost(stack string, n int) string {
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

// Ends are source and destination of a packet, with their ports if it has any.
func Ends(r *engine.Row, saddr scan.Str, sport scan.Int, daddr scan.Str, dport scan.Int) (from, to string) {
	if !r.Has(sport) && !r.Has(dport) {
		return r.Str(saddr), r.Str(daddr)
	}
	return line.EndOf(r.Str(saddr), r.Int(sport)), line.EndOf(r.Str(daddr), r.Int(dport))
}

// Flow is the way of a packet: its source and destination.
type Flow struct {
	Saddr, Daddr string
	Sport, Dport int64
}

// Busy is the answer of a driver that has no room: the packet will be sent again.
const Busy = 16
