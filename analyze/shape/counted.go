package shape

import (
	"cmp"
	"fmt"
	"path"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// everyName is the pattern that leaves nothing out.
const everyName = "*"

// CountedOptions are those of analyses of places that the recorder counts itself.
func CountedOptions(key string) []engine.Option {
	return []engine.Option{
		{Name: "match", Short: "m", Kind: engine.Text, Default: everyName, Doc: "only names that match this pattern, with * and ?"},
		{Name: "rate", Kind: engine.Flag, Doc: "also the rate per second, over the time that the rows cover"},
		engine.By(key, "cpu"),
	}
}

// place is where something is counted: the recorder has a counter for each CPU.
type place struct {
	symbol string
	cpu    int64
}

// placeSums is what the rows of a place say, and what they must add up to.
type placeSums struct{ before, sum, total int64 }

// counted adds up the rows in which the recorder counts.
type counted struct {
	in       *engine.Input
	keys     *engine.Keys
	counts   *Map[engine.Key, int64] // nil with --rate
	rates    agg.Keyed[engine.Key, int64]
	t        *render.List[Entry[engine.Key, int64]]
	pattern  string
	names    agg.Intern
	places   agg.Keyed[place, placeSums]
	fits     map[string]bool
	from, to int64 // what the rows cover

	Cpu, Count, CountTotal, WindowNs scan.Int
	Symbol                           scan.Str
}

// NewCounted adds up an event by the name of the place, which gets the prefix that the
// original shows it with.
func NewCounted(in *engine.Input, event, key, prefix string) engine.Fold {
	f := &counted{in: in, pattern: in.Text("match"), fits: map[string]bool{}}
	in.Bind(f)
	f.keys = in.Keys(map[string]engine.KeyDef{key: {render.Text(key, func(r *engine.Row) string { return prefix + r.Str(f.Symbol) })}})
	in.On(event, f.row)
	if in.Flag("rate") {
		f.t = render.ListOf(in.Table, render.Spec{Name: "rates"}, EntryFields(Headed(f.keys.Fields, -36),
			render.Num("count", func(n *int64) int64 { return *n }).Text("COUNT", 12),
			render.NumOr("per_second", f.perSecond).As(render.Fixed).Digits(1).Text("PER_SECOND", 12))...)
		return f
	}
	f.counts = Count(in, "counts", f.keys.Fields...)
	f.counts.Table.Unnamed = true
	return Also(f.counts, f)
}

// matches remembers which names fit the pattern.
func (f *counted) matches(symbol string) bool {
	ok, known := f.fits[symbol]
	if !known {
		// A pattern that cannot be one fits nothing.
		ok, _ = path.Match(f.pattern, symbol)
		ok = ok || f.pattern == everyName
		if len(f.fits) < 1<<16 {
			f.fits[symbol] = ok
		}
	}
	return ok
}

func (f *counted) row(r *engine.Row) {
	symbol := f.names.Get(r.Str(f.Symbol))
	if !f.matches(symbol) {
		return
	}
	n := r.Int(f.Count)
	if f.counts != nil {
		f.counts.Add(f.keys.Of(r), n)
	} else if c := f.rates.At(f.keys.Of(r)); c != nil {
		*c += n
	}
	if from := r.TS - r.Int(f.WindowNs); f.from == 0 || from < f.from {
		f.from = from
	}
	f.to = max(f.to, r.TS)
	if p := f.places.At(place{symbol, r.Int(f.Cpu)}); p != nil && r.Has(f.CountTotal) {
		if p.total == 0 {
			p.before = r.Int(f.CountTotal) - n
		}
		p.sum, p.total = p.sum+n, r.Int(f.CountTotal)
	}
}

// perSecond is a count as a rate, in tenths, over the time that the rows cover.
func (f *counted) perSecond(n *int64) (int64, bool) {
	return int64(float64(*n)*1e10/float64(f.to-f.from) + 0.5), f.to > f.from
}

// Finish shows the rates, and what is missing from the sums.
func (f *counted) Finish(a *render.Answer) {
	for _, k := range f.rates.Sorted(func(n *int64) int64 { return *n }, engine.Key.Compare) {
		f.t.Line(Entry[engine.Key, int64]{Key: k, Value: f.rates.At(k)})
	}
	missing := int64(0)
	order := func(a, b place) int { return cmp.Or(cmp.Compare(a.symbol, b.symbol), cmp.Compare(a.cpu, b.cpu)) }
	for _, k := range f.places.Sorted(func(*placeSums) int64 { return 0 }, order) {
		p := f.places.At(k)
		missing += max(0, p.total-p.before-p.sum)
	}
	if missing > 0 {
		a.Note(fmt.Sprintf("rows were lost: the counters show %s more than these rows", engine.Thousands(missing)))
	}
}
