package shape

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// Percent is a map of histograms of shares, in steps of ten percent; the last bucket has
// what is all, or more.
func Percent[K key[K]](in *engine.Input, name string, keys ...render.Field[K]) *Map[K, LinearHist] {
	m := Linear(in, name, "percent", 100, keys...)
	m.add = func(l *LinearHist, v, n int64) {
		if l.Linear == nil {
			l.Linear = agg.NewLinear(0, 100, 10)
		}
		l.AddN(v, n)
	}
	return m
}

// Linear is a map of histograms with a bucket for each number up to most.
func Linear[K key[K]](in *engine.Input, name, unit string, most int64, keys ...render.Field[K]) *Map[K, LinearHist] {
	t := buckets(in, name, unit, keys)
	return &Map[K, LinearHist]{in: in, Table: t.Table,
		add: func(l *LinearHist, v, n int64) {
			if l.Linear == nil {
				l.Linear = agg.NewLinear(0, most, 1)
			}
			l.AddN(v, n)
		}, weight: func(l *LinearHist) int64 { return l.Total() },
		show: func(k K, l *LinearHist) { showBuckets(t, k, l.Buckets()) }}
}

// LinearHist is a linear histogram that is made when its first value comes.
type LinearHist struct{ *agg.Linear }
