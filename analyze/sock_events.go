package analyze

import (
	"slices"
	"time"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

// sockEvents has a row for each event of one socket, with every column that the recorded
// events fill: for programs, as it is many.
type sockEvents struct {
	t    *render.Table
	cols []eventCol
}

// eventCol is a column of the file. Those without a type are made of the row itself.
type eventCol struct {
	num  scan.Int // one of these
	text scan.Str
	kind schema.Type
	name string
}

func newSockEvents(in *engine.Input) *sockEvents {
	f := &sockEvents{}
	var take engine.Handler // nil where nobody sees the table
	shown := in.Answer.Shows("events")
	if f.describe(in, shown); shown {
		take = f.row
	}
	// Read in any case: every row may say who a socket is, and all formats say the same.
	for i := range schema.Events {
		if e := &schema.Events[i]; !e.Own() {
			in.Use(e.Name, "", take)
		}
	}
	return f
}

// fills reports whether rows of the recording have a column.
func fills(in *engine.Input, c *schema.Column) bool {
	return c.Required || slices.ContainsFunc(c.Events, func(e string) bool { return in.Meta.Rows[e] > 0 && !schema.ByName(e).Own() })
}

// describe makes the table. Its columns are read only where it is shown.
func (f *sockEvents) describe(in *engine.Input, shown bool) {
	cols := []render.Column{render.Col("generation", render.Int)}
	for i := range schema.Columns {
		c := &schema.Columns[i]
		if !fills(in, c) {
			continue
		}
		e, kind := eventCol{name: c.Name, kind: c.Type}, render.Int
		made := c.Type == schema.Micros || c.Name == "event"
		switch {
		case made || c.Type == schema.String:
			kind = render.String
		case c.Type == schema.Uint64:
			kind = render.Addr
		}
		if shown && !made {
			if c.Type == schema.String {
				e.text = in.Str(c.Name)
			} else {
				e.num = in.Int(c.Name)
			}
		}
		f.cols, cols = append(f.cols, e), append(cols, render.Col(c.Name, kind).In(c.Unit))
	}
	f.t = in.Table(render.Spec{Name: "events", Look: render.CSV, Data: true, Columns: cols})
}

func (f *sockEvents) row(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	f.t.Int(int64(r.Sock.Gen))
	for i := range f.cols {
		switch c := &f.cols[i]; {
		case c.name == "event":
			f.t.Str(r.Event.Name)
		case c.kind == schema.Micros:
			f.t.Str(time.Unix(0, r.TS).UTC().Format("2006-01-02 15:04:05.000000"))
		case c.kind == schema.String && r.HasStr(c.text):
			f.t.Str(r.Str(c.text))
		case c.kind != schema.String && r.Has(c.num):
			f.t.Int(r.Int(c.num))
		default:
			f.t.Null(1)
		}
	}
	f.t.End()
}
