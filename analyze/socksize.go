package analyze

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "socksize",
	Aliases:  []string{"socksizestats --stats"},
	Group:    groupMuch,
	Question: "what sizes are socket reads and writes, per process?",
	Help: `Bytes that each send or receive call transferred, as a histogram per process and direction.
--stats prints count, average (truncated) and total instead, and a table with minimum,
maximum, the 50th, 90th and 99th percentile (less than 2 percent too low) and bytes per
second over the recording. Calls that returned an error are counted separately; reads of
zero bytes (end of file) are in [0].

Several peaks often have several causes: --by ustack separates them by the calling code,
in recordings made with --io-stacks.

Reads with MSG_PEEK leave the data in the buffer and are not counted; --compat counts
them, as the original does.`,
	Example: "socksize --stats",
	Options: []engine.Option{
		{Name: "stats", Kind: engine.Flag, Doc: "count, average and total instead of histograms"},
		engine.By("comm", append([]string{"ustack"}, engine.SocketKeys...)...),
		engine.Compat("count MSG_PEEK reads too"),
	},
	New: newSocksize,
})

type socksize struct {
	read, write interface{ Add(engine.Key, int64) }
	spread      *sizeSpread
	keys        *engine.Keys

	bytes                          *engine.Bytes
	compat                         bool
	errors, peeks, blind, received int64

	Ret scan.Int
}

func newSocksize(in *engine.Input) engine.Fold {
	s := &socksize{keys: in.Keys(nil), bytes: in.Bytes(), compat: in.Flag("compat")}
	in.Bind(s)
	in.On(calls.IOEvent(in), s.row)
	if in.Flag("stats") {
		read := shape.Stats(in, "read_bytes", "bytes", s.keys.Fields...)
		write := shape.Stats(in, "write_bytes", "bytes", s.keys.Fields...)
		s.read, s.write = read, write
		if s.spread = newSizeSpread(in, s.keys.Fields); s.compat {
			return shape.Also(read, write, s)
		}
		return shape.Also(read, write, s.spread, s)
	}
	read := shape.Hist(in, "read_bytes", "bytes", s.keys.Fields...)
	write := shape.Hist(in, "write_bytes", "bytes", s.keys.Fields...)
	s.read, s.write = read, write
	return shape.Also(read, write, s)
}

func (s *socksize) row(r *engine.Row) {
	n := r.Int(s.Ret)
	if n < 0 {
		s.errors++
		return
	}
	k := s.keys.Of(r)
	if s.bytes.Sent(r) {
		s.write.Add(k, n)
		s.spread.add("write", k, n)
		return
	}
	s.received++
	switch {
	case !s.bytes.Seen(r):
		s.blind++
	case s.bytes.Peeked(r):
		s.peeks++
		if !s.compat {
			return
		}
	}
	s.read.Add(k, n)
	s.spread.add("read", k, n)
}

// Finish says what is not in the maps.
func (s *socksize) Finish(a *render.Answer) {
	if s.errors > 0 {
		a.Note(engine.Plural(s.errors, "call", "calls") + " returned an error and are not counted")
	}
	switch {
	case s.peeks > 0 && s.compat:
		a.Note(fmt.Sprintf("--compat: includes %s with MSG_PEEK", engine.Plural(s.peeks, "read", "reads")))
	case s.peeks > 0:
		a.Note(fmt.Sprintf("left out %s with MSG_PEEK; the original counts them (--compat)", engine.Plural(s.peeks, "read", "reads")))
	}
	if s.blind > 0 && !s.compat {
		a.Note(fmt.Sprintf("flags of %s are unknown, because their hook does not see them; MSG_PEEK reads among them count", engine.Plural(s.blind, "read", "reads")))
	}
}

// sizeSpread is how sizes are spread, by direction and key.
type sizeSpread struct {
	in    *engine.Input
	keys  []render.Field[engine.Key]
	sizes agg.Keyed[sizeKey, agg.Quantiles]
}

type sizeKey struct {
	dir string
	key engine.Key
}

func newSizeSpread(in *engine.Input, keys []render.Field[engine.Key]) *sizeSpread {
	return &sizeSpread{in: in, keys: shape.Headed(keys, -16)}
}

// add counts a size; nothing if there is no table to fill.
func (f *sizeSpread) add(dir string, k engine.Key, n int64) {
	if f == nil {
		return
	}
	if q := f.sizes.At(sizeKey{dir, k}); q != nil {
		q.AddN(n, f.in.Weigh(0))
	}
}

// Finish writes the table, most bytes first.
func (f *sizeSpread) Finish(*render.Answer) {
	size := func(name, head string, of func(*agg.Quantiles) int64) render.Field[agg.Quantiles] {
		return render.Num(name, of).Text(head, 8).In("bytes")
	}
	ns := max(f.in.End()-f.in.Start(), 1)
	keys := append([]render.Field[sizeKey]{render.Text("dir", func(k *sizeKey) string { return k.dir }).Text("DIR", -5)},
		render.Within(func(k *sizeKey) *engine.Key { return &k.key }, f.keys...)...)
	t := render.ListOf(f.in.Table, render.Spec{Name: "spread"}, shape.EntryFields(keys,
		render.Num("count", func(q *agg.Quantiles) int64 { return q.Count }).Text("COUNT", 8),
		size("min_bytes", "MIN", func(q *agg.Quantiles) int64 { return q.Min }),
		size("p50_bytes", "P50", func(q *agg.Quantiles) int64 { return q.At(0.5) }),
		size("p90_bytes", "P90", func(q *agg.Quantiles) int64 { return q.At(0.9) }),
		size("p99_bytes", "P99", func(q *agg.Quantiles) int64 { return q.At(0.99) }),
		size("max_bytes", "MAX", func(q *agg.Quantiles) int64 { return q.Max }),
		render.Num("bytes_per_s", func(q *agg.Quantiles) int64 { return int64(float64(q.Sum) * 1e9 / float64(ns)) }).Text("BYTES/s", 12).In("bytes/s"))...)
	for _, k := range f.sizes.Sorted(func(q *agg.Quantiles) int64 { return -q.Sum }, func(a, b sizeKey) int { return cmp.Or(cmp.Compare(a.dir, b.dir), a.key.Compare(b.key)) }) {
		t.Line(shape.Entry[sizeKey, agg.Quantiles]{Key: k, Value: f.sizes.At(k)})
	}
}
