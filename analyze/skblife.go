package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

var _ = register(engine.Analysis{
	Name:     "skblife",
	Group:    groupPkt,
	Question: "how long does an sk_buff live: what delay do all layers of the stack add?",
	Help: `Nanoseconds from the allocation of an sk_buff to its end, consumed or dropped.
This is the life of the buffer, not of the packet: segmentation, merging and
coalescing move data between buffers. Buffers freed on a path without an event
show as reborn: the same address is allocated again before an end was seen.`,
	Example: "skblife --from 10s --to 20s",
	New: func(in *engine.Input) engine.Fold {
		h := histOf[none](in, "skb_residency_nsecs", "ns")
		var skbs agg.Skbs
		var unborn int64
		skb := in.Int("skb")
		end := func(r *engine.Row) {
			if birth, ok := skbs.Free(r.Uint(skb)); ok {
				h.Add(none{}, r.TS-birth)
			} else {
				unborn++
			}
		}
		in.On("skb_alloc", func(r *engine.Row) { skbs.Alloc(r.Uint(skb), r.TS) })
		in.On("skb_consume", end)
		in.Use("skb_drop", "buffers of dropped packets have no end", end)
		return also(h, engine.FoldFunc(func(a *render.Answer) {
			a.Note(fmt.Sprintf("not counted: %s reborn without an end, %s still alive, %s freed whose birth is not in the recording",
				engine.Group(skbs.Reborn()), engine.Group(int64(skbs.Alive())), engine.Group(unborn)))
		}))
	},
})
