package analyze

import "netrec/analyze/agg"

// slabLives is what the slab allocator hears of sk_buffs. A fast clone has no memory of its
// own: it was allocated behind its original, and the memory of both is freed with the last.
type slabLives struct {
	births agg.Spans[uint64]
	pairs  agg.Pending[uint64, uint64] // by fast clone: its original
	twice  agg.Pending[uint64, bool]   // originals whose fast clone is alive, or the other way round
}

// fastClone is the most bytes between an sk_buff and its fast clone: one sk_buff. Those that
// are allocated by themselves have 256 bytes each, or more.
const fastClone = 255

func (f *slabLives) born(skb uint64, ts int64) {
	f.births.Begin(skb, ts)
	f.twice.End(skb)
}

func (f *slabLives) cloned(parent, child uint64, ts int64) {
	if child > parent && child-parent <= fastClone {
		f.pairs.Begin(child, parent)
		f.twice.Begin(parent, true)
		return
	}
	f.born(child, ts)
}

// freed gives the birth of what is freed with the end of an sk_buff.
func (f *slabLives) freed(skb uint64) (birth int64, ok bool) {
	if parent, clone := f.pairs.End(skb); clone {
		skb = parent
	}
	if _, other := f.twice.End(skb); other {
		return 0, false
	}
	return f.births.End(skb)
}
