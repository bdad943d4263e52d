package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// percentOf is a map of histograms of shares, in steps of ten percent; the last bucket has
// what is all, or more.
func percentOf[K key[K]](in *engine.Input, name string, keys ...render.Column) *mapOf[K, linear] {
	m := linearOf[K](in, name, "percent", 100, keys...)
	m.add = func(l *linear, v, n int64) {
		if l.Linear == nil {
			l.Linear = agg.NewLinear(0, 100, 10)
		}
		l.AddN(v, n)
	}
	return m
}
