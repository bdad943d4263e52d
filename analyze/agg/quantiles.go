package agg

import (
	"maps"
	"math/bits"
	"slices"
)

// Quantiles counts values so that any quantile can be told afterwards: exactly up to 127,
// above that less than 2 percent too low. It holds a few thousand numbers at most.
type Quantiles struct {
	Stats
	counts map[int32]int64
}

// Add counts a value; those below zero count as 0.
func (q *Quantiles) Add(v int64) { q.AddN(v, 1) }

// AddN counts a value n times.
func (q *Quantiles) AddN(v, n int64) {
	q.Stats.AddN(v, n)
	if q.counts == nil {
		q.counts = map[int32]int64{}
	}
	q.counts[quantileBucket(max(v, 0))] += n
}

// At is the value that a share p of all values does not exceed; 0 if there are none.
func (q *Quantiles) At(p float64) int64 {
	want := int64(p * float64(q.Count))
	if float64(want) < p*float64(q.Count) {
		want++
	}
	for _, b := range slices.Sorted(maps.Keys(q.counts)) {
		if want -= q.counts[b]; want <= 0 {
			return max(q.Min, quantileLow(b))
		}
	}
	return 0
}

// quantileBucket numbers buckets of 64 steps for every power of two.
func quantileBucket(v int64) int32 {
	if v < 128 {
		return int32(v)
	}
	e := bits.Len64(uint64(v)) - 7
	return int32(64*e) + int32(v>>e)
}

// quantileLow is the lowest value of a bucket.
func quantileLow(b int32) int64 {
	if b < 128 {
		return int64(b)
	}
	e := b/64 - 1
	return int64(b-64*e) << e
}
