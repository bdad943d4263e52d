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
	f.tables()
	f.us = shape.Hist[shape.Whole](in, "us", "us")
	f.slowest = turns.Slowest(max(1, in.Number("slowest")))
	return shape.Also(f, f.us)
}

// tables declares both tables. Lines that have to fit a screen have fewer columns.
func (f *waits) tables() {
	col := func(c render.Column, head string, width int) render.Column { return c.Text(head, width) }
	wide := col
	if f.in.Answer.Fits() {
		wide = func(c render.Column, _ string, _ int) render.Column { return c }
	}
	ms := func(name string) render.Column { return render.Col(name, render.Fixed).Digits(3).In("ms") }
	n := func(name string) render.Column { return render.Col(name, render.Int) }
	text := func(name string) render.Column { return render.Col(name, render.String) }
	f.table = f.in.Table(render.Spec{Name: "waits", Columns: slices.Concat(shape.Headed(f.keys.Columns, -21), []render.Column{
		wide(n("conns"), "CONNS", 6), col(n("turns"), "TURNS", 6), wide(n("overlap"), "OVERLAP", 6), col(ms("p50_ms"), "P50_ms", 8), wide(ms("p90_ms"), "P90_ms", 8), col(ms("p99_ms"), "P99_ms", 8),
		col(ms("max_ms"), "MAX_ms", 8), wide(render.Col("estimated_percent", render.Fixed).Digits(1).In("percent"), "EST_%", 6)}, turns.Columns(), []render.Column{n("unfinished")})})
	f.slow = f.in.Table(render.Spec{Name: "slowest", Title: "slowest turns", Columns: slices.Concat([]render.Column{
		col(render.Col("start_s", render.Fixed).Digits(6).In("s"), "START(s)", 11), col(ms("turn_ms"), "TURN_ms", 9), col(text("service"), "SERVICE", -21), col(text("sock"), "SOCK", -18),
		wide(text("process"), "PROCESS", -16), n("asked_bytes").In("bytes"), n("answered_bytes").In("bytes"), n("unfinished"), n("overlap")},
		turns.Columns(), []render.Column{wide(text("next"), "STORY", 0)})})
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
		w := f.by.At(k)
		k.Put(f.table)
		q, known := &w.length, w.length.Count > 0
		f.table.Int(w.conns).Int(w.turns).Int(w.overlap).IntOr(q.At(0.5), known).IntOr(q.At(0.9), known).IntOr(q.At(0.99), known).IntOr(q.Max, known)
		f.table.Int(turns.PerMille(w.estimated, w.split.Total()))
		w.split.Put(f.table, f.room(22*len(f.keys.Columns)+35))
		f.table.Int(w.unfinished).End()
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
		f.slow.Int((s.Start - f.in.Start()) / 1000).Int((s.End - s.Start) / 1000).Str(s.Service).Str(fmt.Sprintf("0x%x", s.Sock)).Str(s.Process).Int(s.Asked).Int(s.Answered)
		s.PutMarks(f.slow)
		s.Split.Put(f.slow, f.room(max(21, len(s.Service))+42))
		f.slow.Str(s.Story(f.in.Start())).End()
	}
}
