package line

import (
	"cmp"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// Busiest lists the sockets with most rows, each life for itself.
type Busiest struct {
	t      *render.List[rowsOf]
	counts agg.PerSocket[int64]
	best   *agg.Greatest[rowsOf]
}

// rowsOf is a socket and how many rows it has.
type rowsOf struct {
	agg.Socket
	rows int64
}

var rowsOfFields = slices.Concat([]render.Field[rowsOf]{
	render.Address("sock", func(s *rowsOf) uint64 { return s.Addr }).Text("SOCK", -18),
	render.Num("rows", func(s *rowsOf) int64 { return s.rows }).Text("ROWS", -8),
	render.Num("generation", func(s *rowsOf) int64 { return int64(s.Gen) }).Text("GEN", -3),
	render.NonZero("pid", func(s *rowsOf) int64 { return s.Pid }).Text("PID", -7),
	render.TextOr("comm", func(s *rowsOf) string { return s.Comm }).Text("COMM", -15),
}, render.Within(func(s *rowsOf) *agg.Socket { return &s.Socket }, EndFields...))

// NewBusiest makes a table of n sockets.
func NewBusiest(in *engine.Input, name, title string, n int) *Busiest {
	b := &Busiest{best: agg.NewGreatest(max(1, n), func(a, b rowsOf) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), cmp.Compare(a.Serial, b.Serial))
	})}
	b.t = render.ListOf(in.Table, render.Spec{Name: name, Title: title}, rowsOfFields...)
	in.OnEnd(func(s *agg.Socket) {
		if n := *b.counts.Of(s); n > 0 {
			b.best.Add(rowsOf{*s, n})
		}
	})
	return b
}

// Add counts a row of the socket.
func (b *Busiest) Add(s *agg.Socket) { *b.counts.Of(s)++ }

// Finish writes the table.
func (b *Busiest) Finish(*render.Answer) {
	for _, s := range b.best.Sorted() {
		b.t.Line(s)
	}
}
