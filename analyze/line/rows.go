package line

import (
	"slices"
	"strconv"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

// EventNames are all events, those that the recorder makes itself if own.
func EventNames(own bool) (names []string) {
	for i := range schema.Events {
		if e := &schema.Events[i]; own || !e.Own() {
			names = append(names, e.Name)
		}
	}
	return names
}

// FileCol is a column of the file, of whatever type.
type FileCol struct {
	*schema.Column
	Num  scan.Int // one of these
	Text scan.Str
}

// Read makes the scan read it.
func (c *FileCol) Read(in *engine.Input) {
	if c.Type == schema.String {
		c.Text = in.Str(c.Name)
	} else {
		c.Num = in.Int(c.Name)
	}
}

// Has reports whether a row has a value.
func (c *FileCol) Has(r *engine.Row) bool {
	if c.Type == schema.String {
		return r.HasStr(c.Text)
	}
	return r.Has(c.Num)
}

// FileCols are the columns that rows of the recording have.
func FileCols(in *engine.Input) (cols []FileCol) {
	for i := range schema.Columns {
		c := &schema.Columns[i]
		if c.Required || slices.ContainsFunc(c.Events, func(e string) bool { return in.Meta.Rows[e] > 0 && !schema.ByName(e).Own() }) {
			cols = append(cols, FileCol{Column: c})
		}
	}
	return cols
}

// Rows prints rows as they are in the file: time, event, and each column that is set as
// name=value.
type Rows struct {
	in    *engine.Input
	t     *render.List[engine.Row]
	wants func(*agg.Socket) bool
	cols  []FileCol
	buf   []byte
}

// NewRows prints the rows of events, of sockets that are wanted, with the columns named or all.
func NewRows(in *engine.Input, events, columns []string, wants func(*agg.Socket) bool) *Rows {
	f := &Rows{in: in, wants: wants}
	f.cols = slices.DeleteFunc(FileCols(in), func(c FileCol) bool {
		return c.Type == schema.Micros || c.Name == "event" || c.Name == "ts_ns" || len(columns) > 0 && !slices.Contains(columns, c.Name)
	})
	for i := range f.cols {
		f.cols[i].Read(in)
	}
	f.t = render.ListOf(in.Table, render.Spec{Name: "rows"},
		render.Num("time_s", func(r *engine.Row) int64 { return r.TS - in.Start() }).As(render.Fixed).Digits(9).Text("TIME(s)", 13).In("s"),
		render.Text("event", func(r *engine.Row) string { return r.Event.Name }).Text("EVENT", -14),
		render.Text("columns", f.columns).Text("COLUMNS", 0),
		render.Num("ts_ns", func(r *engine.Row) int64 { return r.TS }).In("ns"))
	for _, e := range events {
		in.Use(e, "", f.row)
	}
	return f
}

func (f *Rows) row(r *engine.Row) {
	if f.wants(r.Sock) {
		f.t.Add(r)
	}
}

// columns are those that a row has, as name=value.
func (f *Rows) columns(r *engine.Row) string {
	f.buf = f.buf[:0]
	for i := range f.cols {
		c := &f.cols[i]
		if !c.Has(r) || c.Type == schema.Uint64 && r.Uint(c.Num) == 0 {
			continue
		}
		if len(f.buf) > 0 {
			f.buf = append(f.buf, ' ')
		}
		f.buf = append(append(f.buf, c.Name...), '=')
		switch c.Type {
		case schema.String: // quoted, so that no name passes for a column
			f.buf = append(f.buf, render.ShellWord(r.Str(c.Text))...)
		case schema.Uint64:
			f.buf = strconv.AppendUint(append(f.buf, "0x"...), r.Uint(c.Num), 16)
		default:
			f.buf = strconv.AppendInt(f.buf, r.Int(c.Num), 10)
		}
	}
	return string(f.buf)
}

// Finish has nothing to add: rows were written as they came.
func (*Rows) Finish(*render.Answer) {}
