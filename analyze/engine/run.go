package engine

import (
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

// Call is one analysis with its argument and options.
type Call struct {
	Analysis *Analysis
	Addr     uint64
	Options  map[string]string // by name; absent ones have their default
}

// run is one pass over a recording.
type run struct {
	src     scan.Source
	sel     *Selection
	out     *render.Output
	inputs  []*Input
	sockets *agg.Sockets
	match   *matcher
	table   [][]target // by event id
	sock    uint64     // the only socket any analysis wants; 0 for all
}

// target is a handler and the analysis it belongs to.
type target struct {
	in      *Input
	handler Handler
	needed  bool
}

// Run answers the calls in their order, in one pass over the recording. The error
// is about reading or writing; what an analysis could not answer is in its Outcome.
func Run(src scan.Source, calls []Call, sel Selection, out *render.Output) ([]Outcome, error) {
	r := &run{src: src, sel: &sel, out: out, table: make([][]target, schema.MaxID)}
	outcomes := make([]Outcome, len(calls))
	folds := make([]Fold, len(calls))
	inputs := make([]*Input, len(calls))
	for i, c := range calls {
		a := out.Answer(c.Analysis.Name)
		in, fold, err := prepare(src.Meta(), c, a)
		if err != nil {
			return nil, err
		}
		outcomes[i] = in.able()
		if outcomes[i].Status != Answered {
			a.Begin([]string{"cannot answer: " + outcomes[i].Why})
			a.End()
			continue
		}
		a.Begin(in.limits(&sel))
		folds[i], inputs[i] = fold, in
		r.add(in)
	}
	if err := r.scan(); err != nil {
		return nil, err
	}
	for i, in := range inputs {
		if in == nil {
			continue
		}
		folds[i].Finish(in.Answer)
		in.explainNone(&sel)
		in.Answer.End()
		outcomes[i].Rows = in.Answer.Rows()
	}
	return outcomes, out.Err()
}

// add enters the handlers of an input that can be answered.
func (r *run) add(in *Input) {
	in.run = r
	r.inputs = append(r.inputs, in)
	for _, u := range in.needs {
		r.target(in, u, true)
	}
	for _, u := range in.uses {
		r.target(in, u, false)
	}
	if r.sockets == nil && (in.sockets || r.sel.through()) {
		r.sockets = agg.NewSockets(r.src.Meta().Sockets)
	}
}

func (r *run) target(in *Input, u use, needed bool) {
	if u.handler != nil {
		id := schema.ByName(u.event).ID
		r.table[id] = append(r.table[id], target{in, u.handler, needed})
	}
}

func (r *run) scan() error {
	if len(r.inputs) == 0 {
		return nil
	}
	q := r.query()
	r.sock = q.Sock
	if r.sel.through() {
		if err := r.settle(q); err != nil {
			return err
		}
	}
	if r.sockets != nil {
		r.sockets.OnEnd(r.ended)
		if err := r.history(q, r.sockets); err != nil {
			return err
		}
	}
	n := 0
	var row Row
	err := r.src.Scan(q, func(s *scan.Row) error {
		r.row(&row, s)
		// Errors of the output stay; asking now and then is enough to stop early.
		if n++; n&0xfff == 0 {
			return r.out.Err()
		}
		return nil
	})
	if err == nil && r.sockets != nil {
		r.sockets.Close()
	}
	return err
}

// query is what the scan must deliver to all inputs together.
func (r *run) query() scan.Query {
	q := scan.Query{From: r.sel.From, To: r.sel.To, Sock: r.sel.Sock}
	only := r.inputs[0].onlySock
	for _, in := range r.inputs {
		for _, e := range in.events() {
			q.Events = appendNew(q.Events, e)
		}
		for _, c := range in.cols {
			q.Columns = appendCol(q.Columns, c)
		}
		if in.onlySock != only {
			only = 0
		}
	}
	if q.Sock == 0 {
		q.Sock = only
	}
	if r.sockets != nil {
		for _, e := range agg.IdentityEvents {
			q.Events = appendNew(q.Events, e)
		}
		for _, c := range r.sockets.Columns() {
			q.Columns = appendCol(q.Columns, c)
		}
	}
	if r.sel.through() {
		r.match = newMatcher(r.sel)
		for _, c := range r.match.columns() {
			q.Columns = appendCol(q.Columns, c)
		}
	}
	for _, in := range r.inputs {
		if in.onlySock != 0 {
			q.Columns = appendCol(q.Columns, scan.Col(schema.ColumnIndex("sock")))
		}
	}
	return q
}

func appendCol(cs []scan.Col, c scan.Col) []scan.Col {
	if slices.Contains(cs, c) {
		return cs
	}
	return append(cs, c)
}

// settle reads the recording once to learn who the sockets are.
func (r *run) settle(q scan.Query) error {
	s := agg.NewSockets(r.src.Meta().Sockets)
	s.OnEnd(r.match.settle)
	if err := r.history(q, s); err != nil {
		return err
	}
	q.Columns = s.Columns()
	if err := r.src.Scan(q, func(row *scan.Row) error { s.Feed(row); return nil }); err != nil {
		return err
	}
	s.Close()
	return nil
}

// history feeds what identities need from before the selected time.
func (r *run) history(q scan.Query, s *agg.Sockets) error {
	if q.From == 0 {
		return nil
	}
	q.Events, q.Columns, q.From, q.To = agg.IdentityEvents, s.Columns(), 0, q.From
	return r.src.Scan(q, func(row *scan.Row) error { s.Feed(row); return nil })
}

// row hands a row to all analyses that want it.
func (r *run) row(row *Row, s *scan.Row) {
	row.Row, row.Sock = s, nil
	if r.sockets != nil {
		row.Sock = r.sockets.Feed(s)
	}
	if r.match != nil && !r.match.row(s, row.Sock) {
		return
	}
	for i := range r.table[s.Event.ID] {
		t := &r.table[s.Event.ID][i]
		if t.in.onlySock != 0 && r.sock == 0 && s.Uint(sockCol) != t.in.onlySock {
			continue
		}
		if t.needed || len(t.in.needs) == 0 {
			t.in.matched++
		}
		t.handler(row)
	}
}

var sockCol = scan.Col(schema.ColumnIndex("sock"))

// ended tells the analyses of a socket whose life is over.
func (r *run) ended(s *agg.Socket) {
	if s.Last < r.sel.From || r.match != nil && !r.match.socket(s) {
		return
	}
	for _, in := range r.inputs {
		if in.onlySock != 0 && s.Addr != in.onlySock {
			continue
		}
		for _, f := range in.onEnd {
			f(s)
		}
	}
}

// explainNone says why an answer has no row.
func (in *Input) explainNone(sel *Selection) {
	if in.Answer.Rows() > 0 {
		return
	}
	if len(in.tables) > 0 {
		in.Answer.Header(in.tables[0])
	}
	events, total := in.events(), int64(0)
	if len(in.needs) > 0 {
		events = nil
		for _, u := range in.needs {
			events = appendNew(events, u.event)
		}
	}
	for _, e := range events {
		total += in.Meta.Rows[e]
	}
	names := joinOr(events)
	switch {
	case in.onlySock != 0 && total > 0:
		in.Answer.Note(fmt.Sprintf("none: no event of the socket 0x%x", in.onlySock))
	case total == 0:
		in.Answer.Note(fmt.Sprintf("none: %s was recorded and did not happen", names))
	case in.matched == 0 && sel.any():
		in.Answer.Note(fmt.Sprintf("none: the selection leaves out all %s events of %s", Group(total), names))
	default:
		in.Answer.Note(fmt.Sprintf("none: %s events of %s, and none of them makes a row", Group(total), names))
	}
}

func joinOr(ss []string) string {
	s := ss[0]
	for i, t := range ss[1:] {
		if i == len(ss)-2 {
			s += " or " + t
		} else {
			s += ", " + t
		}
	}
	return s
}
