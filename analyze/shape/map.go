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
	show   func(*render.Table, K, *V)
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
		m.show(m.Table, k, m.keyed.At(k))
	}
	if n := m.keyed.Overflow; n > 0 {
		a.Note(fmt.Sprintf("@%s: left out %s values, because there are more than %s different keys",
			m.Table.Name, engine.Thousands(n), engine.Thousands(agg.MaxKeys)))
	}
}

// Hist is a histogram map in powers of two.
func Hist[K key[K]](in *engine.Input, name, unit string, keys ...render.Column) *Map[K, agg.Log2] {
	m := &Map[K, agg.Log2]{in: in, Table: in.Table(render.HistMap(name, unit, keys...)),
		add: (*agg.Log2).AddN, weight: (*agg.Log2).Total, show: showHist[K]}
	if tap := in.Tap(name); tap != nil {
		m.add = func(h *agg.Log2, v, n int64) {
			h.AddN(v, n)
			tap(v)
		}
	}
	return m
}

func showHist[K key[K]](t *render.Table, k K, h *agg.Log2) { showBuckets(t, k, h.Buckets()) }

func showBuckets[K key[K]](t *render.Table, k K, buckets []agg.Bucket) {
	for _, b := range buckets {
		k.Put(t)
		t.IntOr(b.Low, !b.NoLow).IntOr(b.High, !b.NoHigh).Int(b.Count).End()
	}
}

// Stats is a map of count, average and total, with minimum and maximum for programs.
func Stats[K key[K]](in *engine.Input, name, unit string, keys ...render.Column) *Map[K, agg.Stats] {
	spec := render.StatsMap(name, unit, keys...)
	spec.Columns = append(spec.Columns, render.Col("min", render.Int).In(unit), render.Col("max", render.Int).In(unit))
	return &Map[K, agg.Stats]{in: in, Table: in.Table(spec), sums: true, add: (*agg.Stats).AddN,
		weight: func(s *agg.Stats) int64 { return s.Count }, show: showStats[K]}
}

func showStats[K key[K]](t *render.Table, k K, s *agg.Stats) {
	k.Put(t)
	t.Int(s.Count).Int(s.Average()).Int(s.Sum).Int(s.Min).Int(s.Max).End()
}

// Count is a map of counts.
func Count[K key[K]](in *engine.Input, name string, keys ...render.Column) *Map[K, int64] {
	return &Map[K, int64]{in: in, Table: in.Table(render.CountMap(name, keys...)), sums: true,
		add: func(sum *int64, v, n int64) { *sum += v * n }, weight: func(n *int64) int64 { return *n },
		show: func(t *render.Table, k K, n *int64) { k.Put(t); t.Int(*n).End() }}
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
