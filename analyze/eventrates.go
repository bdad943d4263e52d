package analyze

import (
	"cmp"
	"maps"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/findings"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

var _ = register(engine.Analysis{
	Name:     "eventrates",
	Group:    groupStart,
	Question: "what happened when: how many events of each kind, second by second?",
	Help: `One line per interval and kind of event; SECOND counts from the start of the recording.
Intervals without events have no line. WHY is the drop reason of dropped packets, and
the lost event of lost events.

--of wrong shows only what went wrong: retransmitted segments, resets, lost events, and
dropped packets (without those that are purged when a socket closes). --of recorder shows
what the recorder itself used: percent of one CPU, and memory. The timelines of netrec
report show these numbers at a finer resolution.`,
	Example: "eventrates --of wrong --interval 10",
	Options: []engine.Option{
		{Name: "of", Kind: engine.Choice, Choices: []string{"all", "wrong", "recorder"}, Default: "all", Doc: "all events, what went wrong, or what the recorder used"},
		{Name: "interval", Kind: engine.Number, Default: "1", Doc: "seconds"},
	},
	New: newEventrates,
})

// rateKey is a kind of event and the reason of it.
type rateKey struct{ event, why string }

type eventrates struct {
	in     *engine.Input
	rates  *render.List[rateLine]
	usage  *render.List[usageLine]
	plain  []int64 // by event id: most rows have no reason
	counts map[rateKey]int64
	names  agg.Intern
	step   int64 // ns
	from   int64 // of the interval
	wrong  bool
	again  *engine.Resent
	noted  int64 // when the recorder last noted what it used
	used   int64 // by then, ns of CPU

	LostCount, UserNs, SysNs, RssBytes scan.Int
	DropReason, Location, LostEvent    scan.Str
}

func newEventrates(in *engine.Input) engine.Fold {
	f := &eventrates{in: in, plain: make([]int64, schema.MaxID), counts: map[rateKey]int64{}, step: int64(max(1, in.Number("interval"))) * 1e9, from: in.Start(), wrong: in.Text("of") == "wrong", again: in.Resent()}
	in.Bind(f)
	if in.Text("of") == "recorder" {
		ts := func(l *usageLine) int64 { return l.ts }
		f.usage = render.ListOf(in.Table, render.Spec{Name: "recorder"}, secondOf(in, ts),
			render.Num("cpu_percent", func(l *usageLine) int64 { return l.permille }).As(render.Fixed).Digits(1).Text("CPU%", 7).In("%"),
			render.Num("rss_bytes", func(l *usageLine) int64 { return l.rss }).Text("RSS_BYTES", 12).In("bytes"),
			render.Num("ts_ns", ts).In("ns"))
		in.Use("cost", "", f.note)
		return f
	}
	for i := range schema.Events {
		if e := &schema.Events[i]; !e.Own() && (!f.wrong || slices.Contains([]string{"tcp_retrans", "skb_drop", "tcp_reset"}, e.Name)) {
			in.Use(e.Name, "", f.row)
		}
	}
	in.Use("lost", "", f.row)
	ts := func(l *rateLine) int64 { return l.from }
	f.rates = render.ListOf(in.Table, render.Spec{Name: "rates"}, secondOf(in, ts),
		render.Text("event", func(l *rateLine) string { return l.event }).Text("EVENT", -21),
		render.TextOr("why", func(l *rateLine) string { return l.why }).Text("WHY", -24),
		render.Num("count", func(l *rateLine) int64 { return l.count }).Text("COUNT", 10),
		render.Num("ts_ns", ts).In("ns"))
	return f
}

// rateLine is how often something happened in an interval.
type rateLine struct {
	rateKey
	count, from int64
}

// usageLine is what the recorder used.
type usageLine struct{ permille, rss, ts int64 }

func secondOf[T any](in *engine.Input, ts func(*T) int64) render.Field[T] {
	return render.Num("second", func(row *T) int64 { return (ts(row) - in.Start()) / 1e9 }).Text("SECOND", 8).In("s")
}

func (f *eventrates) row(r *engine.Row) {
	if r.TS-f.from >= f.step {
		f.show()
		f.from += (r.TS - f.from) / f.step * f.step
	}
	k, n := rateKey{event: r.Event.Name}, int64(1)
	switch k.event {
	case "lost":
		k.why, n = f.names.Get(r.Str(f.LostEvent)), r.Int(f.LostCount)
	case "skb_drop":
		if k.why = f.names.Get(r.Str(f.DropReason)); f.wrong && findings.LeftOver(k.why, r.Str(f.Location)) {
			return
		}
	case "tcp_retrans":
		if !f.wrong {
			f.plain[r.Event.ID]++
			return
		}
		n = f.again.Segments(r)
		k.why = f.again.Noun(2)
	default:
		f.plain[r.Event.ID] += f.in.Weigh(1)
		return
	}
	if _, known := f.counts[k]; !known && len(f.counts) >= agg.MaxKeys {
		k.why = ""
	}
	f.counts[k] += n
}

// show writes the interval that is over, most frequent first.
func (f *eventrates) show() {
	for i := range schema.Events {
		if e := &schema.Events[i]; f.plain[e.ID] > 0 {
			f.counts[rateKey{event: e.Name}] = f.plain[e.ID]
		}
	}
	clear(f.plain)
	for _, k := range slices.SortedFunc(maps.Keys(f.counts), func(a, b rateKey) int {
		return cmp.Or(cmp.Compare(f.counts[b], f.counts[a]), cmp.Compare(a.event, b.event), cmp.Compare(a.why, b.why))
	}) {
		f.rates.Line(rateLine{k, f.counts[k], f.from})
	}
	clear(f.counts)
}

// note takes what the recorder used since it noted it before.
func (f *eventrates) note(r *engine.Row) {
	used := r.Int(f.UserNs) + r.Int(f.SysNs)
	if ns := r.TS - f.noted; f.noted != 0 && ns > 0 && used >= f.used {
		f.usage.Line(usageLine{int64(float64(used-f.used)*1000/float64(ns) + 0.5), r.Int(f.RssBytes), r.TS})
	}
	f.noted, f.used = r.TS, used
}

// Finish writes the last interval.
func (f *eventrates) Finish(*render.Answer) { f.show() }
