package shape

import (
	"strconv"

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
	t        *render.List[Entry[engine.Key, agg.Stats]]
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
func NewIRQSums(in *engine.Input, key render.Field[engine.Row], name, head string, width int, down bool) *IRQSums {
	f := &IRQSums{in: in, unit: 1000, only: -1, count: in.Flag("count"), down: down, interval: int64(in.Number("interval")) * 1e9, from: in.Start()}
	in.Bind(f)
	label := "usecs"
	if in.Flag("nanoseconds") {
		f.unit, label = 1, "nsecs"
	}
	if c, err := strconv.ParseInt(in.Text("cpu"), 10, 64); err == nil {
		f.only = c
	}
	f.keys = in.Keys(map[string]engine.KeyDef{name: {key}})
	if in.Flag("dist") {
		f.hists = Hist(in, label, label, f.keys.Fields...)
		return f
	}
	f.stamped = f.interval > 0 || in.Flag("timestamp")
	f.t = render.ListOf(in.Table, render.Spec{Name: "interrupts"}, f.fields(label, key.Name, head, width)...)
	return f
}

// fields are when the sums begin, the keys and the sums.
func (f *IRQSums) fields(label, name, head string, width int) (fields []render.Field[Entry[engine.Key, agg.Stats]]) {
	if f.stamped {
		fields = append(fields,
			render.Num("time", func(*Entry[engine.Key, agg.Stats]) int64 { return f.in.Local(f.from) }).As(render.Clock).Text("TIME", -8).ForPeople(),
			render.Num("from_ns", func(*Entry[engine.Key, agg.Stats]) int64 { return f.from }).In("ns"))
	}
	keys := Headed(f.keys.Fields, -8)
	for i := range keys {
		if keys[i].Name == name {
			keys[i] = keys[i].Text(head, -width)
		}
	}
	value := render.Num("total_"+label, func(s *agg.Stats) int64 { return s.Sum / f.unit }).Text("TOTAL_"+label, 11).In(label)
	runs := render.Num("runs", func(s *agg.Stats) int64 { return s.Count })
	if f.count {
		value = render.Num("total_count", func(s *agg.Stats) int64 { return s.Count }).Text("TOTAL_count", 11)
	}
	return append(fields, EntryFields(keys, value, runs, render.Num("max_ns", func(s *agg.Stats) int64 { return s.Max }).In("ns"))...)
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
		f.t.Line(Entry[engine.Key, agg.Stats]{Key: k, Value: f.sums.At(k)})
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
