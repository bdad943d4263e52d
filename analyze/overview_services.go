package analyze

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/turns"
)

// services sums up where the time of connections went, by what they are about.
type services struct {
	in    *engine.Input
	names agg.Intern
	by    agg.Keyed[string, served]
	turns int64

	follow *turns.Follower
}

// served is the time of one service.
type served struct {
	turns  int64
	length agg.Quantiles // us, of turns that have one
	split  turns.Split
}

// busy is the time in which somebody owed something.
func (s *served) busy() int64 { return s.split.Total() - s.split[turns.Idle] }

func newServices(in *engine.Input) *services {
	f := &services{in: in}
	f.follow = turns.Follow(in, f.turn, func(c *turns.Followed) {
		if s := f.of(c); s != nil {
			s.split.Add(&c.Split)
		}
	})
	return f
}

func (f *services) of(c *turns.Followed) *served { return f.by.At(f.names.Get(turns.Service(c.Sock))) }

func (f *services) turn(c *turns.Followed, t *turns.Turn) {
	f.turns++
	s := f.of(c)
	if s == nil {
		return
	}
	if s.turns++; !t.Overlap && !t.Unfinished {
		s.length.Add((t.End - t.Start) / 1000)
	}
}

// any reports whether the time of any connection is known: recordings of older versions lack what it
// takes.
func (f *services) any() bool { return f.by.Len() > 0 && (f.follow.Lacking == 0 || f.turns > 0) }

// show lists the n services with most time, in lines that fit the screen if the answer has to.
func (f *services) show(n int) {
	if !f.any() {
		return
	}
	keys := f.by.Sorted(func(s *served) int64 { return -s.busy() }, cmp.Compare[string])
	keys = keys[:min(n, len(keys))]
	name := 21
	for _, k := range keys {
		name = max(name, len(k))
	}
	ms := func(name, head string) render.Column {
		return render.Col(name, render.Fixed).Digits(3).Text(head, 9).In("ms")
	}
	t := f.in.Table(render.Spec{Name: "services", Title: "where the time went, by service", Columns: append([]render.Column{render.Col("service", render.String).Text("SERVICE", -name),
		render.Col("turns", render.Int).Text("TURNS", 6), ms("p50_ms", "P50_ms"), ms("p99_ms", "P99_ms"), render.Col("shares", render.String).Text("WHERE", 0).ForPeople()}, turns.Columns()[1:]...)})
	for _, k := range keys {
		s := f.by.At(k)
		if s.busy() <= 0 {
			continue
		}
		where, known := s.split.Shares(), s.length.Count > 0
		if f.in.Answer.Fits() {
			where = fittingShares(where, f.in.Answer.Columns()-name-28)
		}
		t.Str(k).Int(s.turns).IntOr(s.length.At(0.5), known).IntOr(s.length.At(0.99), known).Str(where)
		for _, ns := range s.split {
			t.Int(ns)
		}
		t.End()
	}
}

// fittingShares leaves out the least ones, so that the others are whole.
func fittingShares(shares string, width int) string {
	for whole := shares; utf8.RuneCountInString(shares) > width; {
		i := strings.LastIndex(whole, ", ")
		if i < 0 {
			return render.Shorten(whole, width)
		}
		whole = whole[:i]
		shares = whole + " …"
	}
	return shares
}
