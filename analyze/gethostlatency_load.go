package analyze

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// lookupHorizon is how long a lookup may take to be put in its place among the others:
// it is known when it returns, and counted by when it began.
const lookupHorizon = 60e9

// flight is a lookup from beginning to end.
type flight struct {
	start, end int64
	failed     bool
}

// lookupLoad groups lookups by how many were in flight when they began.
type lookupLoad struct {
	pending []flight // by start
	ends    []int64  // of those in flight
	levels  [24]struct {
		ms     agg.Stats
		failed int64
	}
	done int64 // start of the last one counted
	late int64 // that took longer than the horizon
}

// add takes a lookup when it ends.
func (l *lookupLoad) add(start, end int64, failed bool) {
	at, _ := slices.BinarySearchFunc(l.pending, start, func(f flight, t int64) int {
		if f.start <= t {
			return -1
		}
		return 1
	})
	l.pending = slices.Insert(l.pending, at, flight{start, end, failed})
	l.count(end - lookupHorizon)
}

// count counts the lookups that began before a time.
func (l *lookupLoad) count(before int64) {
	n := 0
	for ; n < len(l.pending) && l.pending[n].start < before; n++ {
		f := &l.pending[n]
		if f.start < l.done {
			l.late++
		}
		l.done = max(l.done, f.start)
		l.ends = slices.DeleteFunc(l.ends, func(end int64) bool { return end <= f.start })
		l.ends = append(l.ends, f.end)
		level := &l.levels[min(bits.Len(uint(len(l.ends)-1)), len(l.levels)-1)]
		if level.ms.Add(f.end - f.start); f.failed {
			level.failed++
		}
	}
	l.pending = slices.Delete(l.pending, 0, n)
}

// show writes a line for each power of two of lookups in flight.
func (l *lookupLoad) show(in *engine.Input, a *render.Answer) {
	if l == nil {
		return
	}
	l.count(1 << 62)
	t := in.Table(render.Spec{Name: "concurrency", Columns: []render.Column{render.Col("in_flight", render.String).Text("IN_FLIGHT", -12),
		render.Col("lookups", render.Int).Text("LOOKUPS", 8), render.Col("avg_ms", render.Fixed).Digits(2).Text("AVGms", 10).In("ms"),
		render.Col("min_ms", render.Fixed).Digits(2).Text("MINms", 10).In("ms"), render.Col("max_ms", render.Fixed).Digits(2).Text("MAXms", 10).In("ms"),
		render.Col("failed", render.Int).Text("FAILED", 8), render.Col("from", render.Int), render.Col("to", render.Int)}})
	for i := range l.levels {
		v := &l.levels[i]
		if v.ms.Count == 0 {
			continue
		}
		low, high := int64(1)<<i>>1+1, int64(1)<<i
		name := strconv.FormatInt(high, 10)
		if low = min(low, high); low != high {
			name = strconv.FormatInt(low, 10) + "-" + name
		}
		t.Str(name).Int(v.ms.Count).Int(render.Round(v.ms.Average(), 1e6, 2)).Int(render.Round(v.ms.Min, 1e6, 2)).Int(render.Round(v.ms.Max, 1e6, 2))
		t.Int(v.failed).Int(low).Int(high).End()
	}
	if l.late > 0 {
		a.Note(fmt.Sprintf("%s took longer than %d s; for these, the number in flight may be too low", engine.Plural(l.late, "lookup", "lookups"), int64(lookupHorizon/1e9)))
	}
}
