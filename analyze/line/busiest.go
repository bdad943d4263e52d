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
	t      *render.Table
	counts agg.PerSocket[int64]
	best   *agg.Greatest[rowsOf]
}

// rowsOf is a socket and how many rows it has.
type rowsOf struct {
	agg.Socket
	rows int64
}

// NewBusiest makes a table of n sockets.
func NewBusiest(in *engine.Input, name, title string, n int) *Busiest {
	b := &Busiest{best: agg.NewGreatest(max(1, n), func(a, b rowsOf) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), cmp.Compare(a.Serial, b.Serial))
	})}
	b.t = in.Table(render.Spec{Name: name, Title: title, Columns: slices.Concat([]render.Column{
		render.Col("sock", render.Addr).Text("SOCK", -18), render.Col("rows", render.Int).Text("ROWS", -8),
		render.Col("generation", render.Int).Text("GEN", -3), render.Col("pid", render.Int).Text("PID", -7),
		render.Col("comm", render.String).Text("COMM", -15)}, Ends())})
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
		b.t.Uint(s.Addr).Int(s.rows).Int(int64(s.Gen)).IntOr(s.Pid, s.Pid != 0).StrOr(s.Comm)
		PutEnds(b.t, &s.Socket).End()
	}
}
