package analyze

import "netrec/analyze/engine"

// onPacketEnd calls f where a packet comes to its end, by whichever of the events the
// recording has. Several of them may tell of the same end; the first one counts.
func onPacketEnd(in *engine.Input, without string, f func(r *engine.Row, dropped bool)) {
	end := func(r *engine.Row) { f(r, false) }
	in.Use("skb_consume", without, end)
	in.Use("skb_free", "", end)
	in.Use("skb_drop", without, func(r *engine.Row) { f(r, true) })
}
