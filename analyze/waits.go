package analyze

import (
	"fmt"
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

Every nanosecond of a connection is in exactly one place, so the shares make 100 %; where
most of the time was idle, the others are shares of the rest:
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
their first event. --slowest lists turns, and the command that shows the story of the first.
Lines fit 100 columns; --all has every share, EST, OVERLAP, P90 and the command for each turn.`,
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
	table   *render.List[shape.Entry[engine.Key, waited]]
	slow    *render.List[turns.Slow]
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
	f.tables()
	f.us = shape.Hist[shape.Whole](in, "us", "us")
	f.slowest = turns.Slowest(max(1, in.Number("slowest")))
	return shape.Also(f, f.us)
}

// tables declares both tables. Lines that have to fit a screen have fewer columns.
func (f *waits) tables() {
	f.table = render.ListOf(f.in.Table, render.Spec{Name: "waits"}, shape.EntryFields(shape.Headed(f.keys.Fields, -21), f.fields()...)...)
	f.slow = render.ListOf(f.in.Table, render.Spec{Name: "slowest", Title: "slowest turns"}, f.slowFields()...)
}

func (f *waits) fields() []render.Field[waited] {
	wide := !f.in.Answer.Fits()
	ms := func(name string, of func(*agg.Quantiles) int64) render.Field[waited] {
		return render.NumOr(name, func(w *waited) (int64, bool) { return of(&w.length), w.length.Count > 0 }).As(render.Fixed).Digits(3).In("ms")
	}
	return slices.Concat([]render.Field[waited]{
		render.Num("conns", func(w *waited) int64 { return w.conns }).TextIf(wide, "CONNS", 6),
		render.Num("turns", func(w *waited) int64 { return w.turns }).Text("TURNS", 6),
		render.Num("overlap", func(w *waited) int64 { return w.overlap }).TextIf(wide, "OVERLAP", 6),
		ms("p50_ms", func(q *agg.Quantiles) int64 { return q.At(0.5) }).Text("P50_ms", 8),
		ms("p90_ms", func(q *agg.Quantiles) int64 { return q.At(0.9) }).TextIf(wide, "P90_ms", 8),
		ms("p99_ms", func(q *agg.Quantiles) int64 { return q.At(0.99) }).Text("P99_ms", 8),
		ms("max_ms", func(q *agg.Quantiles) int64 { return q.Max }).Text("MAX_ms", 8),
		render.Num("estimated_percent", func(w *waited) int64 { return turns.PerMille(w.estimated, w.split.Total()) }).As(render.Fixed).Digits(1).In("percent").TextIf(wide, "EST_%", 6),
	}, turns.Fields(func(w *waited) *turns.Split { return &w.split }, func(*waited) int { return f.room(22*len(f.keys.Fields) + 35) }),
		[]render.Field[waited]{render.Num("unfinished", func(w *waited) int64 { return w.unfinished })})
}

func (f *waits) slowFields() []render.Field[turns.Slow] {
	wide := !f.in.Answer.Fits()
	return slices.Concat([]render.Field[turns.Slow]{
		render.Num("start_s", func(s *turns.Slow) int64 { return (s.Start - f.in.Start()) / 1000 }).As(render.Fixed).Digits(6).In("s").Text("START(s)", 11),
		render.Num("turn_ms", func(s *turns.Slow) int64 { return (s.End - s.Start) / 1000 }).As(render.Fixed).Digits(3).In("ms").Text("TURN_ms", 9),
		render.Text("service", func(s *turns.Slow) string { return s.Service }).Text("SERVICE", -21),
		render.Text("sock", func(s *turns.Slow) string { return fmt.Sprintf("0x%x", s.Sock) }).Text("SOCK", -18),
		render.Text("process", func(s *turns.Slow) string { return s.Process }).TextIf(wide, "PROCESS", -16),
		render.Num("asked_bytes", func(s *turns.Slow) int64 { return s.Asked }).In("bytes"),
		render.Num("answered_bytes", func(s *turns.Slow) int64 { return s.Answered }).In("bytes"),
		render.Flag("unfinished", func(s *turns.Slow) bool { return s.Unfinished }),
		render.Flag("overlap", func(s *turns.Slow) bool { return s.Overlap }),
	}, turns.Fields(func(s *turns.Slow) *turns.Split { return &s.Split }, func(s *turns.Slow) int { return f.room(max(21, len(s.Service)) + 42) }),
		[]render.Field[turns.Slow]{render.Text("next", func(s *turns.Slow) string { return s.Story(f.in.Start()) }).TextIf(wide, "STORY", 0)})
}

// room is how many characters of a line are left for shares after so many others; 0 for any number.
func (f *waits) room(used int) int {
	if !f.in.Answer.Fits() {
		return 0
	}
	return max(f.in.Answer.Columns()-used, 12)
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
		f.table.Line(shape.Entry[engine.Key, waited]{Key: k, Value: f.by.At(k)})
	}
	f.list(a)
	if f.in.Answer.Fits() && f.by.Len() > 0 {
		a.Note("all shares and columns: --all")
	}
}

func (f *waits) list(a *render.Answer) {
	if f.in.Number("slowest") == 0 {
		return
	}
	for i, s := range f.slowest.Sorted() {
		if i == 0 && f.in.Answer.Fits() {
			a.Note("what happened in the slowest: " + engine.Command(f.in.Meta, s.Story(f.in.Start())))
		}
		f.slow.Line(s)
	}
}
