package analyze

import (
	"time"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/schema"
)

// sockEvents has a row for each event of one socket, with every column that the recorded
// events fill: for programs, as it is many.
type sockEvents struct {
	t     *render.List[engine.Row]
	wants func(*agg.Socket) bool
}

func newSockEvents(in *engine.Input, wants func(*agg.Socket) bool) *sockEvents {
	f := &sockEvents{wants: wants}
	var take engine.Handler // nil where nobody sees the table
	shown := in.Answer.Shows("events")
	if f.describe(in, shown); shown {
		take = f.row
	}
	// Read in any case: every row may say who a socket is, and all formats say the same.
	for _, e := range line.EventNames(false) {
		in.Use(e, "", take)
	}
	return f
}

// describe makes the table. Its columns are read only where it is shown.
func (f *sockEvents) describe(in *engine.Input, shown bool) {
	fields := []render.Field[engine.Row]{render.Num("generation", func(r *engine.Row) int64 { return int64(r.Sock.Gen) })}
	cols := line.FileCols(in)
	for i := range cols {
		fields = append(fields, eventField(in, &cols[i], shown).In(cols[i].Unit))
	}
	f.t = render.ListOf(in.Table, render.Spec{Name: "events", Look: render.CSV, Data: true}, fields...)
}

// eventField is a column of the file as one of the table.
func eventField(in *engine.Input, c *line.FileCol, shown bool) render.Field[engine.Row] {
	switch {
	case c.Name == "event":
		return render.Text(c.Name, func(r *engine.Row) string { return r.Event.Name })
	case c.Type == schema.Micros:
		return render.Text(c.Name, func(r *engine.Row) string { return time.Unix(0, r.TS).UTC().Format("2006-01-02 15:04:05.000000") })
	}
	if shown {
		c.Read(in)
	}
	switch c.Type {
	case schema.String:
		return render.Of(c.Name, render.String, func(r *engine.Row) render.Cell { return render.Cell{Str: r.Str(c.Text), Null: !c.Has(r)} })
	case schema.Uint64:
		return render.NumOr(c.Name, func(r *engine.Row) (int64, bool) { return r.Int(c.Num), c.Has(r) }).As(render.Addr)
	}
	return render.NumOr(c.Name, func(r *engine.Row) (int64, bool) { return r.Int(c.Num), c.Has(r) })
}

func (f *sockEvents) row(r *engine.Row) {
	if f.wants(r.Sock) {
		f.t.Add(r)
	}
}
