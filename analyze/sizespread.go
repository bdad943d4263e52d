package analyze

import (
	"cmp"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

// sizeSpread is how sizes are spread, by direction and key.
type sizeSpread struct {
	in    *engine.Input
	keys  []render.Column
	sizes agg.Keyed[sizeKey, agg.Quantiles]
}

type sizeKey struct {
	dir string
	key engine.Key
}

func newSizeSpread(in *engine.Input, keys []render.Column) *sizeSpread {
	return &sizeSpread{in: in, keys: shape.Headed(keys, -16)}
}

// add counts a size; nothing if there is no table to fill.
func (f *sizeSpread) add(dir string, k engine.Key, n int64) {
	if f == nil {
		return
	}
	if q := f.sizes.At(sizeKey{dir, k}); q != nil {
		q.AddN(n, f.in.Weigh(0))
	}
}

// Finish writes the table, most bytes first.
func (f *sizeSpread) Finish(*render.Answer) {
	size := func(name, head string) render.Column { return render.Col(name, render.Int).Text(head, 8).In("bytes") }
	t := f.in.Table(render.Spec{Name: "spread", Columns: slices.Concat([]render.Column{render.Col("dir", render.String).Text("DIR", -5)}, f.keys, []render.Column{
		render.Col("count", render.Int).Text("COUNT", 8), size("min_bytes", "MIN"), size("p50_bytes", "P50"), size("p90_bytes", "P90"), size("p99_bytes", "P99"), size("max_bytes", "MAX"),
		render.Col("bytes_per_s", render.Int).Text("BYTES/s", 12).In("bytes/s")})})
	ns := max(f.in.End()-f.in.Start(), 1)
	for _, k := range f.sizes.Sorted(func(q *agg.Quantiles) int64 { return -q.Sum }, func(a, b sizeKey) int { return cmp.Or(cmp.Compare(a.dir, b.dir), a.key.Compare(b.key)) }) {
		q := f.sizes.At(k)
		t.Str(k.dir)
		k.key.Put(t)
		t.Int(q.Count).Int(q.Min).Int(q.At(0.5)).Int(q.At(0.9)).Int(q.At(0.99)).Int(q.Max).Int(int64(float64(q.Sum) * 1e9 / float64(ns))).End()
	}
}
