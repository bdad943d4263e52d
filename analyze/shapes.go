package analyze

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// process is the key of tables by process.
type process struct {
	comm string
	pid  int64
}

func (p process) Put(t *render.Table) { t.Str(p.comm).Int(p.pid) }

func (p process) Compare(q process) int {
	return cmp.Or(cmp.Compare(p.comm, q.comm), cmp.Compare(p.pid, q.pid))
}

// key is what a table is keyed by.
type key[K any] interface {
	comparable
	Put(*render.Table)
	Compare(K) int
}

// mapOf is a bpftrace map: a fold for each key, shown ascending by its weight.
type mapOf[K key[K], V any] struct {
	in     *engine.Input
	table  *render.Table
	keyed  agg.Keyed[K, V]
	sums   bool                   // values are added up, not counted
	add    func(f *V, v, n int64) // n times
	weight func(*V) int64
	show   func(*render.Table, K, *V)
}

// Add folds a value into its key, as often as the row at hand stands for others.
func (m *mapOf[K, V]) Add(k K, v int64) {
	amount := int64(1)
	if m.sums {
		amount = v
	}
	if f := m.keyed.At(k); f != nil {
		m.add(f, v, m.in.Weigh(amount))
	}
}

// Finish shows the map.
func (m *mapOf[K, V]) Finish(a *render.Answer) {
	for _, k := range m.keyed.Sorted(m.weight, func(a, b K) int { return a.Compare(b) }) {
		m.show(m.table, k, m.keyed.At(k))
	}
	if n := m.keyed.Overflow; n > 0 {
		a.Note(fmt.Sprintf("@%s: left out %s values, because there are more than %s different keys",
			m.table.Name, engine.Thousands(n), engine.Thousands(agg.MaxKeys)))
	}
}

// histOf is a histogram map in powers of two.
func histOf[K key[K]](in *engine.Input, name, unit string, keys ...render.Column) *mapOf[K, agg.Log2] {
	m := &mapOf[K, agg.Log2]{in: in, table: in.Table(render.HistMap(name, unit, keys...)),
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

// statsOf is a map of count, average and total, with minimum and maximum for programs.
func statsOf[K key[K]](in *engine.Input, name, unit string, keys ...render.Column) *mapOf[K, agg.Stats] {
	spec := render.StatsMap(name, unit, keys...)
	spec.Columns = append(spec.Columns, render.Col("min", render.Int).In(unit), render.Col("max", render.Int).In(unit))
	return &mapOf[K, agg.Stats]{in: in, table: in.Table(spec), sums: true, add: (*agg.Stats).AddN,
		weight: func(s *agg.Stats) int64 { return s.Count }, show: showStats[K]}
}

func showStats[K key[K]](t *render.Table, k K, s *agg.Stats) {
	k.Put(t)
	t.Int(s.Count).Int(s.Average()).Int(s.Sum).Int(s.Min).Int(s.Max).End()
}

// countBy is a map of counts.
func countBy[K key[K]](in *engine.Input, name string, keys ...render.Column) *mapOf[K, int64] {
	return &mapOf[K, int64]{in: in, table: in.Table(render.CountMap(name, keys...)), sums: true,
		add: func(sum *int64, v, n int64) { *sum += v * n }, weight: func(n *int64) int64 { return *n },
		show: func(t *render.Table, k K, n *int64) { k.Put(t); t.Int(*n).End() }}
}

// text is a key of one string.
type text string

func (s text) Put(t *render.Table) { t.Str(string(s)) }
func (s text) Compare(o text) int  { return cmp.Compare(s, o) }

// also runs several folds as one, in the order of the answer.
func also(fs ...engine.Fold) engine.Fold {
	return engine.FoldFunc(func(a *render.Answer) {
		for _, f := range fs {
			f.Finish(a)
		}
	})
}

// noteRules says what the original's rule and the right one judge differently, if there
// are such cases: the one text where the original's rule was used, else the other.
func noteRules(a *render.Answer, cases int64, compat bool, original, right string) {
	switch {
	case cases > 0 && compat:
		a.Note(original)
	case cases > 0:
		a.Note(right)
	}
}
