package shape

import (
	"strconv"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// IRQOptions are those of the BCC tools for interrupts.
func IRQOptions(key string, more ...engine.Option) []engine.Option {
	return append([]engine.Option{
		{Name: "nanoseconds", Short: "N", Kind: engine.Flag, Doc: "nanoseconds instead of microseconds"},
		{Name: "count", Short: "C", Kind: engine.Flag, Doc: "how often instead of how long"},
		{Name: "dist", Short: "d", Kind: engine.Flag, Doc: "histograms of single runs"},
		{Name: "cpu", Short: "c", Kind: engine.Number, Doc: "only this CPU"},
		{Name: "timestamp", Short: "T", Kind: engine.Flag, Doc: "print the start time of each sum"},
		{Name: "interval", Short: "i", Kind: engine.Number, Default: "0", Doc: "print sums every N seconds, with the time"},
		engine.By(key, "cpu"),
	}, more...)
}

// IRQSums adds up how long interrupts ran, by name and whatever else --by asks for.
type IRQSums struct {
	in       *engine.Input
	keys     *engine.Keys
	t        *render.Table
	sums     agg.Keyed[engine.Key, agg.Stats]
	hists    *Map[engine.Key, agg.Log2] // nil without --dist
	unit     int64
	only     int64 // CPU; -1 for all
	count    bool
	down     bool // greatest first
	interval int64
	stamped  bool
	from     int64 // beginning of what is summed up

	Cpu, DurNs scan.Int
}

// NewIRQSums makes the table: a heading and width of the names as the original has them.
func NewIRQSums(in *engine.Input, key engine.KeyDef, name, head string, width int, down bool) *IRQSums {
	f := &IRQSums{in: in, unit: 1000, only: -1, count: in.Flag("count"), down: down, interval: int64(in.Number("interval")) * 1e9, from: in.Start()}
	in.Bind(f)
	label := "usecs"
	if in.Flag("nanoseconds") {
		f.unit, label = 1, "nsecs"
	}
	if c, err := strconv.ParseInt(in.Text("cpu"), 10, 64); err == nil {
		f.only = c
	}
	f.keys = in.Keys(map[string]engine.KeyDef{name: key})
	if in.Flag("dist") {
		f.hists = Hist[engine.Key](in, label, label, f.keys.Columns...)
		return f
	}
	var cols []render.Column
	if f.stamped = f.interval > 0 || in.Flag("timestamp"); f.stamped {
		cols = append(cols, render.Col("time", render.Clock).Text("TIME", -8).ForPeople(), render.Col("from_ns", render.Int).In("ns"))
	}
	for _, c := range f.keys.Columns {
		if c.Name == key.Columns[0].Name {
			c = c.Text(head, -width)
		} else {
			c = c.Text(strings.ToUpper(c.Name), -8)
		}
		cols = append(cols, c)
	}
	value := render.Col("total_"+label, render.Int).Text("TOTAL_"+label, 11).In(label)
	if f.count {
		value = render.Col("total_count", render.Int).Text("TOTAL_count", 11)
	}
	f.t = in.Table(render.Spec{Name: "interrupts", Columns: append(cols, value, render.Col("runs", render.Int), render.Col("max_ns", render.Int).In("ns"))})
	return f
}

// Add counts a run that took so long.
func (f *IRQSums) Add(r *engine.Row, ns int64) {
	if f.only >= 0 && r.Int(f.Cpu) != f.only {
		return
	}
	if f.hists != nil {
		f.hists.Add(f.keys.Of(r), ns/f.unit)
		return
	}
	if f.interval > 0 && r.TS >= f.from+f.interval {
		f.show()
		f.from = r.TS - (r.TS-f.in.Start())%f.interval
	}
	if s := f.sums.At(f.keys.Of(r)); s != nil {
		s.Add(ns)
	}
}

// show writes the sums and starts over.
func (f *IRQSums) show() {
	weight := func(s *agg.Stats) int64 {
		w := s.Sum
		if f.count {
			w = s.Count
		}
		if f.down {
			w = -w
		}
		return w
	}
	for _, k := range f.sums.Sorted(weight, engine.Key.Compare) {
		s := f.sums.At(k)
		if f.stamped {
			f.t.Int(f.in.Local(f.from)).Int(f.from)
		}
		k.Put(f.t)
		v := s.Sum / f.unit
		if f.count {
			v = s.Count
		}
		f.t.Int(v).Int(s.Count).Int(s.Max).End()
	}
	f.sums = agg.Keyed[engine.Key, agg.Stats]{}
	f.keys.Forget()
}

// Finish shows the last sums or the histograms.
func (f *IRQSums) Finish(a *render.Answer) {
	if f.hists != nil {
		f.hists.Finish(a)
		return
	}
	f.show()
}
