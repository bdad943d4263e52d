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
	t     *render.Table
	wants func(*agg.Socket) bool
	cols  []line.FileCol
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
	f.cols = line.FileCols(in)
	cols := []render.Column{render.Col("generation", render.Int)}
	for i := range f.cols {
		c, kind := &f.cols[i], render.Int
		made := c.Type == schema.Micros || c.Name == "event" // of the row itself
		switch {
		case made || c.Type == schema.String:
			kind = render.String
		case c.Type == schema.Uint64:
			kind = render.Addr
		}
		if shown && !made {
			c.Read(in)
		}
		cols = append(cols, render.Col(c.Name, kind).In(c.Unit))
	}
	f.t = in.Table(render.Spec{Name: "events", Look: render.CSV, Data: true, Columns: cols})
}

func (f *sockEvents) row(r *engine.Row) {
	if !f.wants(r.Sock) {
		return
	}
	f.t.Int(int64(r.Sock.Gen))
	for i := range f.cols {
		switch c := &f.cols[i]; {
		case c.Name == "event":
			f.t.Str(r.Event.Name)
		case c.Type == schema.Micros:
			f.t.Str(time.Unix(0, r.TS).UTC().Format("2006-01-02 15:04:05.000000"))
		case !c.Has(r):
			f.t.Null(1)
		case c.Type == schema.String:
			f.t.Str(r.Str(c.Text))
		default:
			f.t.Int(r.Int(c.Num))
		}
	}
	f.t.End()
}
