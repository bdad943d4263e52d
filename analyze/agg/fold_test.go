package agg

import (
	"cmp"
	"math"
	"slices"
	"testing"
)

func TestLog2Buckets(t *testing.T) {
	tests := []struct {
		name   string
		values []int64
		want   []Bucket
	}{
		{"none", nil, nil},
		{"zero and one have buckets of their own", []int64{0, 1}, []Bucket{{Low: 0, High: 1, Count: 1}, {Low: 1, High: 2, Count: 1}}},
		{"edges", []int64{2, 3, 4}, []Bucket{{Low: 2, High: 4, Count: 2}, {Low: 4, High: 8, Count: 1}}},
		{"empty ones between are listed", []int64{1, 8}, []Bucket{{Low: 1, High: 2, Count: 1}, {Low: 2, High: 4}, {Low: 4, High: 8}, {Low: 8, High: 16, Count: 1}}},
		{"below zero", []int64{-5, -1}, []Bucket{{NoLow: true, Count: 2}}},
		{"tcp_rmem of the published sample", []int64{10485760, 100000 << 7}, []Bucket{{Low: 8 << 20, High: 16 << 20, Count: 2}}},
		{"largest", []int64{math.MaxInt64}, []Bucket{{Low: 1 << 62, NoHigh: true, Count: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var h Log2
			for _, v := range tt.values {
				h.Add(v)
			}
			if got := h.Buckets(); !slices.Equal(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if h.Total() != int64(len(tt.values)) {
				t.Errorf("total %d", h.Total())
			}
		})
	}
}

func TestLinearBuckets(t *testing.T) {
	h := NewLinear(0, 100, 10)
	for _, v := range []int64{-1, 0, 9, 20, 99, 100, 1000} {
		h.Add(v)
	}
	got := h.Buckets()
	if len(got) != 12 || !got[0].NoLow || got[0].High != 0 || got[1] != (Bucket{Low: 0, High: 10, Count: 2}) ||
		got[2].Count != 0 || got[3].Count != 1 || got[10].Count != 1 || !got[11].NoHigh || got[11].Low != 100 || got[11].Count != 2 {
		t.Errorf("got %+v", got)
	}
	if big := NewLinear(0, math.MaxInt32, 1); len(big.counts) > maxBuckets+2 {
		t.Errorf("%d buckets", len(big.counts))
	}
}

func TestStatsTruncates(t *testing.T) {
	var s Stats
	for range 19873 {
		s.Add(1584)
	}
	s.Add(7746)
	if s.Count != 19874 || s.Sum != 31486578 || s.Average() != 1584 || s.Min != 1584 || s.Max != 7746 {
		t.Errorf("%+v average %d", s, s.Average())
	}
}

func TestTopForgetsTheRarest(t *testing.T) {
	var top Top[int]
	for k := range 200_000 {
		top.Add(k, 1)
		top.Add(k%10, 1)
	}
	best := top.Best(10, cmp.Compare[int])
	for i, e := range best {
		if e.Key != i || e.Count < 20_000 {
			t.Fatalf("place %d: key %d, count %d", i, e.Key, e.Count)
		}
	}
	if len(top.counts) > topRoom || top.Error == 0 {
		t.Errorf("%d keys kept, error %d", len(top.counts), top.Error)
	}
}

// TestTopForgetsTheSame: who is forgotten must not depend on the order of a map.
func TestTopForgetsTheSame(t *testing.T) {
	var first []Entry[int]
	for range 3 {
		var top Top[int]
		for k := range 3 * topRoom {
			top.Add(k, 1+int64(k%2))
		}
		best := top.Best(topRoom, cmp.Compare[int])
		if first == nil {
			first = best
		}
		if !slices.Equal(best, first) {
			t.Fatal("the same counts have another order")
		}
	}
}

func TestHeapKeepsTheFirst(t *testing.T) {
	h := NewGreatest(3, func(a, b int) int { return cmp.Compare(b, a) })
	for i := range 1000 {
		h.Add((i * 7919) % 1000)
	}
	if got := h.Sorted(); !slices.Equal(got, []int{999, 998, 997}) || h.Dropped != 997 {
		t.Errorf("got %v, dropped %d", got, h.Dropped)
	}
}

func TestSpans(t *testing.T) {
	var s Spans[int]
	s.Begin(1, 10)
	s.Begin(1, 20)
	if s.Stale != 1 || s.Len() != 1 {
		t.Errorf("stale %d, open %d", s.Stale, s.Len())
	}
	if ts, ok := s.End(1); !ok || ts != 20 {
		t.Errorf("end gave %d, %v", ts, ok)
	}
	if _, ok := s.End(1); ok {
		t.Error("a span ended twice")
	}
}

func TestKeyedIsBounded(t *testing.T) {
	var k Keyed[int, Stats]
	for i := range MaxKeys + 5 {
		if s := k.At(i); s != nil {
			s.Add(1)
		}
	}
	if k.Len() != MaxKeys || k.Overflow != 5 {
		t.Errorf("%d keys, overflow %d", k.Len(), k.Overflow)
	}
}

func TestQuantiles(t *testing.T) {
	var q Quantiles
	for v := range int64(1000) {
		q.Add(999 - v)
	}
	for p, want := range map[float64]int64{0: 0, 0.1: 99, 0.5: 499, 0.9: 899, 0.99: 989, 1: 999} {
		if got := q.At(p); got > want || float64(got) < 0.98*float64(want) {
			t.Errorf("%v: %d, want %d", p, got, want)
		}
	}
	if q.At(0.1) != 99 || len(q.counts) > 400 {
		t.Errorf("small values are exact: %d; %d buckets", q.At(0.1), len(q.counts))
	}
	for _, v := range []int64{0, 1, 127, 128, 129, 255, 256, 65535, 1 << 40, math.MaxInt64} {
		low := quantileLow(quantileBucket(v))
		if low > v || float64(v-low) > float64(v)/64 {
			t.Errorf("%d is in the bucket from %d", v, low)
		}
	}
	if (&Quantiles{}).At(0.5) != 0 {
		t.Error("quantile of nothing")
	}
}
