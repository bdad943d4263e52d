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
	levels  [24]loadLevel
	done    int64 // start of the last one counted
	late    int64 // that took longer than the horizon
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

// loadLevel is the lookups with about as many others in flight.
type loadLevel struct {
	ms     agg.Stats
	failed int64
}

// loadLine is the lookups with that power of two in flight.
type loadLine struct {
	*loadLevel
	power int
}

func (l *loadLine) high() int64 { return 1 << l.power }
func (l *loadLine) low() int64  { return min(l.high()>>1+1, l.high()) }

func (l *loadLine) name() string {
	if l.low() == l.high() {
		return strconv.FormatInt(l.high(), 10)
	}
	return strconv.FormatInt(l.low(), 10) + "-" + strconv.FormatInt(l.high(), 10)
}

// hundredths is a column of milliseconds.
func hundredths[T any](name, head string, ns func(*T) int64) render.Field[T] {
	return render.Num(name, func(row *T) int64 { return render.Round(ns(row), 1e6, 2) }).As(render.Fixed).Digits(2).Text(head, 10).In("ms")
}

var loadFields = []render.Field[loadLine]{
	render.Text("in_flight", (*loadLine).name).Text("IN_FLIGHT", -12),
	render.Num("lookups", func(l *loadLine) int64 { return l.ms.Count }).Text("LOOKUPS", 8),
	hundredths("avg_ms", "AVGms", func(l *loadLine) int64 { return l.ms.Average() }),
	hundredths("min_ms", "MINms", func(l *loadLine) int64 { return l.ms.Min }),
	hundredths("max_ms", "MAXms", func(l *loadLine) int64 { return l.ms.Max }),
	render.Num("failed", func(l *loadLine) int64 { return l.failed }).Text("FAILED", 8),
	render.Num("from", (*loadLine).low),
	render.Num("to", (*loadLine).high),
}

// show writes a line for each power of two of lookups in flight.
func (l *lookupLoad) show(in *engine.Input, a *render.Answer) {
	if l == nil {
		return
	}
	l.count(1 << 62)
	t := render.ListOf(in.Table, render.Spec{Name: "concurrency"}, loadFields...)
	for i := range l.levels {
		if v := &l.levels[i]; v.ms.Count > 0 {
			t.Line(loadLine{v, i})
		}
	}
	if l.late > 0 {
		a.Note(fmt.Sprintf("%s took longer than %d s; for these, the number in flight may be too low", engine.Plural(l.late, "lookup", "lookups"), int64(lookupHorizon/1e9)))
	}
}
