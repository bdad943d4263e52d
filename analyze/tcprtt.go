package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "tcprtt",
	Group:    groupSlow,
	Question: "how long is the round trip to each peer, as TCP measures it?",
	Main:     []string{"us"},
	Help: `The smoothed round trip time (srtt) of TCP connections, in microseconds, read at every
segment that an established socket receives: by remote host, longest p99 first, and as a
histogram of all. MIN is the shortest that was seen, close to what the path takes when no
queue adds to it. --by lport shows a server's clients together, --by second how it changed.

A peer that delays its ACKs makes the time longer. A connection that receives many segments
counts more than one that receives few.`,
	Example: "tcprtt --by host,comm",
	Options: []engine.Option{engine.By("host", append([]string{"second", "minute"}, engine.SocketKeys...)...)},
	New:     newTcprtt,
})

type tcprtt struct {
	in     *engine.Input
	keys   *engine.Keys
	spread agg.Keyed[engine.Key, agg.Quantiles]
	us     *shape.Map[shape.Whole, agg.Log2]
	table  *render.List[shape.Entry[engine.Key, agg.Quantiles]]

	unknown int64

	SrttUs scan.Int
}

// spreadFields are the columns after the key.
var spreadFields = []render.Field[agg.Quantiles]{
	render.Num("segments", func(q *agg.Quantiles) int64 { return q.Count }).Text("SEGMENTS", 10),
	render.Num("min_us", func(q *agg.Quantiles) int64 { return q.Min }).Text("MIN", 9).In("us"),
	render.Num("p50_us", func(q *agg.Quantiles) int64 { return q.At(0.5) }).Text("P50", 9).In("us"),
	render.Num("p90_us", func(q *agg.Quantiles) int64 { return q.At(0.9) }).Text("P90", 9).In("us"),
	render.Num("p99_us", func(q *agg.Quantiles) int64 { return q.At(0.99) }).Text("P99", 9).In("us"),
	render.Num("max_us", func(q *agg.Quantiles) int64 { return q.Max }).Text("MAX", 9).In("us"),
}

func newTcprtt(in *engine.Input) engine.Fold {
	f := &tcprtt{in: in, keys: in.Keys(nil)}
	in.Bind(f)
	in.Sockets("")
	in.On("tcp_rcv_est", f.row)
	f.table = render.ListOf(in.Table, render.Spec{Name: "spread"}, shape.EntryFields(shape.Headed(f.keys.Fields, -16), spreadFields...)...)
	f.us = shape.Hist[shape.Whole](in, "us", "us")
	return shape.Also(f, f.us)
}

func (f *tcprtt) row(r *engine.Row) {
	us := r.Int(f.SrttUs)
	if us <= 0 {
		f.unknown++
		return
	}
	f.us.Add(shape.Whole{}, us)
	if q := f.spread.At(f.keys.Of(r)); q != nil {
		q.AddN(us, f.in.Weigh(1))
	}
}

// Finish writes the table, longest first; the course of time in its order.
func (f *tcprtt) Finish(a *render.Answer) {
	order := func(q *agg.Quantiles) int64 { return -q.At(0.99) }
	if f.keys.Fields[0].Kind == render.Clock {
		order = func(*agg.Quantiles) int64 { return 0 }
	}
	for _, k := range f.spread.Sorted(order, engine.Key.Compare) {
		f.table.Line(shape.Entry[engine.Key, agg.Quantiles]{Key: k, Value: f.spread.At(k)})
	}
	if f.unknown > 0 {
		a.Note("left out, no round trip was measured yet or recorded: " + engine.Plural(f.unknown, "segment", "segments"))
	}
}
