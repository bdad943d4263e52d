package shape

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// Map is a bpftrace map: a fold for each key, shown ascending by its weight.
type Map[K key[K], V any] struct {
	in     *engine.Input
	Table  *render.Table
	keyed  agg.Keyed[K, V]
	sums   bool                   // values are added up, not counted
	add    func(f *V, v, n int64) // n times
	weight func(*V) int64
	show   func(K, *V)
}

// Add folds a value into its key, as often as the row at hand stands for others.
func (m *Map[K, V]) Add(k K, v int64) {
	amount := int64(1)
	if m.sums {
		amount = v
	}
	if f := m.keyed.At(k); f != nil {
		m.add(f, v, m.in.Weigh(amount))
	}
}

// Finish shows the map.
func (m *Map[K, V]) Finish(a *render.Answer) {
	for _, k := range m.keyed.Sorted(m.weight, func(a, b K) int { return a.Compare(b) }) {
		m.show(k, m.keyed.At(k))
	}
	if n := m.keyed.Overflow; n > 0 {
		a.Note(fmt.Sprintf("@%s: left out %s values, because there are more than %s different keys",
			m.Table.Name, engine.Thousands(n), engine.Thousands(agg.MaxKeys)))
	}
}

// Hist is a histogram map in powers of two.
func Hist[K key[K]](in *engine.Input, name, unit string, keys ...render.Field[K]) *Map[K, agg.Log2] {
	t := buckets(in, name, unit, keys)
	m := &Map[K, agg.Log2]{in: in, Table: t.Table, add: (*agg.Log2).AddN, weight: (*agg.Log2).Total,
		show: func(k K, h *agg.Log2) { showBuckets(t, k, h.Buckets()) }}
	if tap := in.Tap(name); tap != nil {
		m.add = func(h *agg.Log2, v, n int64) {
			h.AddN(v, n)
			tap(v)
		}
	}
	return m
}

// buckets is the table of a histogram map: low and high are NULL where a bucket has no bound.
func buckets[K any](in *engine.Input, name, unit string, keys []render.Field[K]) *render.List[Entry[K, agg.Bucket]] {
	return render.ListOf(in.Table, render.Spec{Name: name, Look: render.MapHist, Keys: len(keys)}, EntryFields(keys,
		render.NumOr("low", func(b *agg.Bucket) (int64, bool) { return b.Low, !b.NoLow }).In(unit),
		render.NumOr("high", func(b *agg.Bucket) (int64, bool) { return b.High, !b.NoHigh }).In(unit),
		render.Num("count", func(b *agg.Bucket) int64 { return b.Count }))...)
}

func showBuckets[K any](t *render.List[Entry[K, agg.Bucket]], k K, buckets []agg.Bucket) {
	for i := range buckets {
		t.Line(Entry[K, agg.Bucket]{k, &buckets[i]})
	}
}

// Stats is a map of count, average and total, with minimum and maximum for programs.
func Stats[K key[K]](in *engine.Input, name, unit string, keys ...render.Field[K]) *Map[K, agg.Stats] {
	t := render.ListOf(in.Table, render.Spec{Name: name, Look: render.MapStats, Keys: len(keys)}, EntryFields(keys,
		render.Num("count", func(s *agg.Stats) int64 { return s.Count }),
		render.Num("average", (*agg.Stats).Average).In(unit),
		render.Num("total", func(s *agg.Stats) int64 { return s.Sum }).In(unit),
		render.Num("min", func(s *agg.Stats) int64 { return s.Min }).In(unit),
		render.Num("max", func(s *agg.Stats) int64 { return s.Max }).In(unit))...)
	return &Map[K, agg.Stats]{in: in, Table: t.Table, sums: true, add: (*agg.Stats).AddN,
		weight: func(s *agg.Stats) int64 { return s.Count }, show: func(k K, s *agg.Stats) { t.Line(Entry[K, agg.Stats]{k, s}) }}
}

// Count is a map of counts.
func Count[K key[K]](in *engine.Input, name string, keys ...render.Field[K]) *Map[K, int64] {
	t := render.ListOf(in.Table, render.Spec{Name: name, Look: render.MapCount, Keys: len(keys)},
		EntryFields(keys, render.Num("count", func(n *int64) int64 { return *n }))...)
	return &Map[K, int64]{in: in, Table: t.Table, sums: true, add: func(sum *int64, v, n int64) { *sum += v * n },
		weight: func(n *int64) int64 { return *n }, show: func(k K, n *int64) { t.Line(Entry[K, int64]{k, n}) }}
}

// Also runs several folds as one, in the order of the answer.
func Also(fs ...engine.Fold) engine.Fold {
	return engine.FoldFunc(func(a *render.Answer) {
		for _, f := range fs {
			f.Finish(a)
		}
	})
}

// NoteRules says what the original's rule and the right one judge differently, if there
// are such cases: the one text where the original's rule was used, else the other.
func NoteRules(a *render.Answer, cases int64, compat bool, original, right string) {
	switch {
	case cases > 0 && compat:
		a.Note(original)
	case cases > 0:
		a.Note(right)
	}
}
