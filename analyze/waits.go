package analyze

import (
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
	"netrec/analyze/turns"
)

var _ = register(engine.Analysis{
	Name:     "waits",
	Aliases:  []string{"turns"},
	Group:    groupSlow,
	Question: "where did the time go: this application, this host, the network or the peer?",
	Main:     []string{"waits"},
	Help: `A turn is a question and its answer: bytes one way, then bytes the other way. The end that
connected asks. At that end a turn lasts from the first byte written to the last byte of the
answer read; at the other end from the first byte's arrival until the answer was sent.
P50 to MAX are the lengths of turns. Payload is not needed.

Every nanosecond of a connection is in exactly one place, so the shares make 100 %:
  connecting       the handshake is under way
  accept queue     the connection waits for accept(2)
  app thinking     this application has read everything and owes bytes
  app not reading  bytes have arrived, and this application has not read them
  send buffer, nagle, cwnd, pacing
                   this host holds bytes back: the send buffer is full and all of it is in
                   flight, Nagle or a cork, the congestion window, pacing or a queue below TCP
  peer window      the peer's window is full
  in flight        sent and not acknowledged
  recovery         the same, after a loss
  peer thinking    the peer has acknowledged everything and owes bytes
  idle             nobody owes anything

A peer may delay its acknowledgement until it answers. Such a segment counts as in flight for
the least round trip, then as received: EST is the share of time that this estimate decided.
Turns in which bytes flowed both ways at once (OVERLAP: pipelining, HTTP/2) have no length of
their own and are left out of P50 to MAX. Connections older than the recording count from
their first event. --slowest lists turns with the command that shows their story.`,
	Example: "waits --by process --slowest 5",
	Options: []engine.Option{
		engine.By("service", "process", "comm", "pid", "cgroup", "peer", "sock", "netns"),
		{Name: "slowest", Kind: engine.Number, Default: "0", Implied: "10", Doc: "list so many of the slowest turns"},
	},
	New: newWaits,
})

type waits struct {
	in      *engine.Input
	keys    *engine.Keys
	by      agg.Keyed[engine.Key, waited]
	us      *shape.Map[shape.Whole, agg.Log2]
	follow  *turns.Follower
	slowest *agg.Greatest[turns.Slow]
	table   *render.Table
	slow    *render.Table
}

// waited is what the connections of a line waited for.
type waited struct {
	conns, turns, overlap, unfinished int64
	length                            agg.Quantiles // us
	split                             turns.Split
	estimated                         int64
}

func newWaits(in *engine.Input) engine.Fold {
	f := &waits{in: in, keys: in.Keys(waitKeys)}
	for _, e := range turns.Needed {
		in.On(e, nil)
	}
	f.follow = turns.Follow(in, f.turn, f.ended)
	ms := func(name, head string) render.Column {
		return render.Col(name, render.Fixed).Digits(3).Text(head, 9).In("ms")
	}
	n := func(name, head string) render.Column { return render.Col(name, render.Int).Text(head, 6) }
	f.table = in.Table(render.Spec{Name: "waits", Columns: slices.Concat(shape.Headed(f.keys.Columns, -21), []render.Column{
		n("conns", "CONNS"), n("turns", "TURNS"), n("overlap", "OVERLAP"), ms("p50_ms", "P50_ms"), ms("p90_ms", "P90_ms"), ms("p99_ms", "P99_ms"), ms("max_ms", "MAX_ms"),
		render.Col("estimated_percent", render.Fixed).Digits(1).Text("EST_%", 6).In("percent")}, turns.Columns(),
		[]render.Column{render.Col("unfinished", render.Int)})})
	f.slow = in.Table(render.Spec{Name: "slowest", Title: "slowest turns", Columns: slices.Concat([]render.Column{
		render.Col("start_s", render.Fixed).Digits(6).Text("START(s)", 11).In("s"), ms("turn_ms", "TURN_ms"), render.Col("service", render.String).Text("SERVICE", -21),
		render.Col("process", render.String).Text("PROCESS", -16), render.Col("asked_bytes", render.Int).In("bytes"), render.Col("answered_bytes", render.Int).In("bytes"),
		render.Col("unfinished", render.Int), render.Col("overlap", render.Int)}, turns.Columns(), []render.Column{render.Col("next", render.String).Text("STORY", 0)})})
	f.us = shape.Hist[shape.Whole](in, "us", "us")
	f.slowest = turns.Slowest(max(1, in.Number("slowest")))
	return shape.Also(f, f.us)
}

func (f *waits) of(c *turns.Followed) *waited {
	if w := f.by.At(f.keys.Of(&engine.Row{Sock: c.Sock})); w != nil {
		return w
	}
	return &waited{} // beyond the room for keys
}

func (f *waits) turn(c *turns.Followed, t *turns.Turn) {
	w := f.of(c)
	switch {
	case t.Overlap:
		w.overlap++
	case t.Unfinished:
		w.unfinished++
	default:
		w.length.Add((t.End - t.Start) / 1000)
		f.us.Add(shape.Whole{}, (t.End-t.Start)/1000)
	}
	w.turns++
	if f.in.Number("slowest") > 0 {
		f.slowest.Add(c.Slow(t))
	}
}

func (f *waits) ended(c *turns.Followed) {
	w := f.of(c)
	if !c.Part {
		w.conns++
	}
	w.split.Add(&c.Split)
	w.estimated += c.Estimated
}

// Finish writes the lines, most time in turns first, then the slowest turns.
func (f *waits) Finish(a *render.Answer) {
	for _, n := range f.follow.Notes() {
		a.Note(n)
	}
	for _, k := range f.by.Sorted(func(w *waited) int64 { return w.split[turns.Idle] - w.split.Total() }, engine.Key.Compare) {
		w := f.by.At(k)
		k.Put(f.table)
		q, known := &w.length, w.length.Count > 0
		f.table.Int(w.conns).Int(w.turns).Int(w.overlap).IntOr(q.At(0.5), known).IntOr(q.At(0.9), known).IntOr(q.At(0.99), known).IntOr(q.Max, known)
		f.table.Int(turns.PerMille(w.estimated, w.split.Total()))
		w.split.Put(f.table)
		f.table.Int(w.unfinished).End()
	}
	f.list()
}

func (f *waits) list() {
	if f.in.Number("slowest") == 0 {
		return
	}
	for _, s := range f.slowest.Sorted() {
		f.slow.Int((s.Start - f.in.Start()) / 1000).Int((s.End - s.Start) / 1000).Str(s.Service).Str(s.Process).Int(s.Asked).Int(s.Answered)
		s.PutMarks(f.slow)
		s.Split.Put(f.slow)
		f.slow.Str(s.Story(f.in.Start())).End()
	}
}
