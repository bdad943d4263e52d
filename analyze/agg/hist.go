package agg

import "math/bits"

// Log2 is a histogram with buckets that double: below 0, 0, 1, [2, 4), [4, 8) …
type Log2 struct {
	counts [65]int64 // [0] below zero, [1] zero, then by bit length
	total  int64
}

// Add counts a value.
func (h *Log2) Add(v int64) { h.AddN(v, 1) }

// AddN counts a value n times.
func (h *Log2) AddN(v, n int64) {
	i := 0
	if v >= 0 {
		i = bits.Len64(uint64(v)) + 1
	}
	h.counts[i] += n
	h.total += n
}

// Total is how many values were added.
func (h *Log2) Total() int64 { return h.total }

// Bucket is one bucket of a histogram: Low ≤ v < High, where they bound it.
type Bucket struct {
	Low, High     int64
	NoLow, NoHigh bool
	Count         int64
}

// Buckets lists the buckets from the lowest to the highest that is not empty.
func (h *Log2) Buckets() []Bucket {
	var bs []Bucket
	for i, first, last := 0, -1, 0; i < len(h.counts); i++ {
		if h.counts[i] > 0 {
			if first < 0 {
				first = i
			}
			for last = max(last, first); last <= i; last++ {
				bs = append(bs, log2Bucket(last, h.counts[last]))
			}
		}
	}
	return bs
}

func log2Bucket(i int, count int64) Bucket {
	switch i {
	case 0:
		return Bucket{High: 0, NoLow: true, Count: count}
	case 1:
		return Bucket{Low: 0, High: 1, Count: count}
	case 64:
		return Bucket{Low: 1 << 62, NoHigh: true, Count: count}
	}
	return Bucket{Low: 1 << (i - 2), High: 1 << (i - 1), Count: count}
}

// Linear is a histogram with buckets of one width between two bounds.
type Linear struct {
	min, max, step int64
	counts         []int64 // [0] below min, last at or above max
	total          int64
}

// maxBuckets is the most buckets a Linear has.
const maxBuckets = 1 << 16

// NewLinear makes buckets of width step from min up to max. A step that would
// need more than 65,536 buckets is widened.
func NewLinear(min, max, step int64) *Linear {
	step = atLeast(step, (max-min+maxBuckets-1)/maxBuckets)
	step = atLeast(step, 1)
	return &Linear{min: min, max: max, step: step, counts: make([]int64, (max-min+step-1)/step+2)}
}

func atLeast(v, low int64) int64 {
	if v < low {
		return low
	}
	return v
}

// Add counts a value.
func (h *Linear) Add(v int64) { h.AddN(v, 1) }

// AddN counts a value n times.
func (h *Linear) AddN(v, n int64) {
	h.total += n
	switch {
	case v < h.min:
		h.counts[0] += n
	case v >= h.max:
		h.counts[len(h.counts)-1] += n
	default:
		h.counts[(v-h.min)/h.step+1] += n
	}
}

// Total is how many values were added.
func (h *Linear) Total() int64 { return h.total }

// Buckets lists the buckets from the lowest to the highest that is not empty.
func (h *Linear) Buckets() []Bucket {
	first, last := len(h.counts), -1
	for i, n := range h.counts {
		if n > 0 {
			first, last = min(first, i), i
		}
	}
	var bs []Bucket
	for i := first; i <= last; i++ {
		b := Bucket{Low: h.min + int64(i-1)*h.step, High: h.min + int64(i)*h.step, Count: h.counts[i]}
		switch i {
		case 0:
			b.High, b.NoLow = h.min, true
		case len(h.counts) - 1:
			b.Low, b.NoHigh = h.max, true
		}
		bs = append(bs, b)
	}
	return bs
}
