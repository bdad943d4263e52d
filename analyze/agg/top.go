package agg

import (
	"cmp"
	"maps"
	"slices"
)

// topRoom is how many keys a Top counts at once.
const topRoom = 1 << 16

// Top counts keys in bounded memory. Up to 65,536 keys it is exact; beyond that
// it forgets the rarer ones and Error says by how much a count may be too low.
type Top[K comparable] struct {
	counts map[K]int64
	Error  int64
	Keys   int64 // distinct keys, counting those that came back after being forgotten
}

// Add counts n for a key.
func (t *Top[K]) Add(key K, n int64) {
	c, ok := t.counts[key]
	if !ok {
		if t.counts == nil {
			t.counts = map[K]int64{}
		}
		if len(t.counts) >= topRoom {
			t.forget()
		}
		t.Keys++
	}
	t.counts[key] = c + n
}

// forget gives up the keys with counts below the middle one, and those with that count too where
// this makes little room: which ones go must not depend on the order of a map.
func (t *Top[K]) forget() {
	all := slices.Sorted(maps.Values(t.counts))
	most := all[len(all)/2]
	if rarer, _ := slices.BinarySearch(all, most); rarer >= topRoom/4 {
		most--
	}
	for k, c := range t.counts {
		if c <= most {
			delete(t.counts, k)
			t.Error = max(t.Error, c)
		}
	}
}

// Entry is a key and its count.
type Entry[K comparable] struct {
	Key   K
	Count int64
}

// Best lists the n keys with the highest counts, highest first, equal ones by order.
func (t *Top[K]) Best(n int, order func(a, b K) int) []Entry[K] {
	es := make([]Entry[K], 0, len(t.counts))
	for k, c := range t.counts {
		es = append(es, Entry[K]{k, c})
	}
	slices.SortFunc(es, func(a, b Entry[K]) int {
		if c := cmp.Compare(b.Count, a.Count); c != 0 {
			return c
		}
		return order(a.Key, b.Key)
	})
	return es[:min(n, len(es))]
}

// Greatest keeps the n greatest values by an order.
type Greatest[T any] struct {
	n       int
	order   func(a, b T) int
	vs      []T
	Dropped int64
}

// NewGreatest keeps the n values that come first in the order.
func NewGreatest[T any](n int, order func(a, b T) int) *Greatest[T] {
	return &Greatest[T]{n: n, order: order}
}

// Add offers a value.
func (g *Greatest[T]) Add(v T) {
	g.vs = append(g.vs, v)
	// Sorting when twice full costs log n per value and keeps the code plain.
	if len(g.vs) >= 2*g.n {
		g.trim()
	}
}

func (g *Greatest[T]) trim() {
	slices.SortStableFunc(g.vs, g.order)
	if len(g.vs) > g.n {
		g.Dropped += int64(len(g.vs) - g.n)
		clear(g.vs[g.n:])
		g.vs = g.vs[:g.n]
	}
}

// Has reports whether a value that may still be kept is such.
func (g *Greatest[T]) Has(such func(T) bool) bool { return slices.ContainsFunc(g.vs, such) }

// Sorted lists what was kept, first in the order first.
func (g *Greatest[T]) Sorted() []T {
	g.trim()
	return g.vs
}
