package eventtext

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"netrec/analyze/scan"
	"netrec/schema"
)

// Start is when recordings made of text begin, unless their metadata says otherwise.
var Start = time.Date(2026, 3, 1, 13, 52, 0, 0, time.UTC).UnixNano()

// Source is a recording in memory.
type Source struct {
	meta scan.Meta
	rows []row
	vecs []scan.Vec
}

type row struct {
	ts    int64
	event *schema.Event
	cells []cell
}

type cell struct {
	col  int
	num  int64
	step int64 // from one repetition of the row to the next
	str  string
}

// Parse makes a recording of metadata, as JSON over the fields of scan.Meta, and
// of event lines. Unless the metadata says so, every event was asked for and seen
// by its first hook, and nothing was lost.
func Parse(meta, events string) (*Source, error) {
	s := &Source{}
	s.meta.Host = schema.Host{Name: "testhost", Kernel: "6.12.0", Machine: "x86_64", CPUs: 2, Zone: "UTC"}
	s.meta.Recording = schema.Recording{StartNS: Start, End: "timer"}
	s.meta.Version = "test"
	if strings.TrimSpace(meta) != "" {
		d := json.NewDecoder(strings.NewReader(meta))
		d.DisallowUnknownFields()
		if err := d.Decode(&s.meta); err != nil {
			return nil, fmt.Errorf("metadata of events: %w", err)
		}
	}
	s.hooks()
	for i, line := range strings.Split(events, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if err := s.line(line); err != nil {
			return nil, fmt.Errorf("events: line %d: %w", i+1, err)
		}
	}
	s.build()
	return s, nil
}

// hooks completes the list of hooks: what it does not name was attached, or not
// asked for if the metadata lists the events that were.
func (s *Source) hooks() {
	for i := range schema.Events {
		e := &schema.Events[i]
		if e.Own() || slices.ContainsFunc(s.meta.Hooks, func(h schema.EventHooks) bool { return h.Event == e.Name }) {
			continue
		}
		h := schema.EventHooks{Event: e.Name, State: schema.HookAttached, Hooks: firstRung(e)}
		if asked := s.meta.Recording.Events; asked != nil && !slices.Contains(asked, e.Name) {
			h.State, h.Hooks = schema.HookNotAsked, nil
		}
		s.meta.Hooks = append(s.meta.Hooks, h)
	}
}

// build turns rows into columns.
func (s *Source) build() {
	if byTime := func(a, b row) int { return cmp.Compare(a.ts, b.ts) }; !slices.IsSortedFunc(s.rows, byTime) {
		slices.SortStableFunc(s.rows, byTime)
	}
	n := len(s.rows)
	s.vecs = make([]scan.Vec, len(schema.Columns))
	dicts := make([]map[string]int32, len(schema.Columns))
	for c := range schema.Columns {
		if schema.Columns[c].Required {
			s.column(c, n, dicts)
		}
	}
	s.meta.Rows = map[string]int64{}
	for i := range s.rows {
		s.fill(i, dicts)
	}
	if n > 0 {
		s.meta.FirstNS, s.meta.LastNS = s.rows[0].ts, s.rows[n-1].ts
	}
}

// column makes room for a column; those that no row has stay without.
func (s *Source) column(c, n int, dicts []map[string]int32) {
	v := &s.vecs[c]
	if schema.Columns[c].Type == schema.String {
		v.Index, dicts[c] = make([]int32, n), map[string]int32{}
		for i := range v.Index {
			v.Index[i] = -1
		}
		return
	}
	v.Ints = make([]int64, n)
	if !schema.Columns[c].Required {
		v.Valid = make([]bool, n)
	}
}

func (s *Source) fill(i int, dicts []map[string]int32) {
	r := &s.rows[i]
	s.meta.Rows[r.event.Name]++
	for _, c := range r.cells {
		v := &s.vecs[c.col]
		if v.Index == nil && v.Ints == nil {
			s.column(c.col, len(s.rows), dicts)
		}
		if v.Index == nil {
			v.Ints[i] = c.num
			if v.Valid != nil {
				v.Valid[i] = true
			}
			continue
		}
		k, ok := dicts[c.col][c.str]
		if !ok {
			k = int32(len(v.Dict))
			v.Dict = append(v.Dict, c.str)
			dicts[c.col][c.str] = k
		}
		v.Index[i] = k
	}
}

// Meta is what the recording says about itself.
func (s *Source) Meta() *scan.Meta { return &s.meta }

// unasked is a column that cannot be read: who tries forgot to ask for it, and would find
// nothing in a file.
var unasked = scan.Vec{Ints: []int64{}, Index: []int32{}}

// Scan delivers the rows that the query selects. Reading a column that it does not name
// panics.
func (s *Source) Scan(q scan.Query, f func(*scan.Row) error) error {
	vecs := s.vecs
	if q.Columns != nil {
		vecs = slices.Repeat([]scan.Vec{unasked}, len(s.vecs))
		for _, c := range q.Columns {
			vecs[c] = s.vecs[c]
		}
	}
	vecs = shown(vecs, q.Show)
	sock := s.vecs[schema.ColumnIndex("sock")].Ints
	wanted := make([]bool, schema.MaxID)
	for i := range schema.Events {
		e := &schema.Events[i]
		wanted[e.ID] = q.Events == nil || slices.Contains(q.Events, e.Name)
	}
	var at scan.Row // one for all: rows are only valid during the call
	for i := range s.rows {
		r := &s.rows[i]
		if !wanted[r.event.ID] || r.ts < q.From || q.To != 0 && r.ts >= q.To || q.Sock != 0 && uint64(sock[i]) != q.Sock {
			continue
		}
		at = scan.At(r.event, r.ts, vecs, i)
		if err := f(&at); err != nil {
			return err
		}
	}
	return nil
}

// shown replaces the strings of columns by what is to be shown for them.
func shown(vecs []scan.Vec, show map[scan.Col]func(string) string) []scan.Vec {
	if len(show) > 0 {
		vecs = slices.Clone(vecs)
	}
	for c, f := range show {
		vecs[c].Dict = slices.Clone(vecs[c].Dict)
		for i, s := range vecs[c].Dict {
			vecs[c].Dict[i] = f(s)
		}
	}
	return vecs
}

// Len is how many rows there are.
func (s *Source) Len() int { return len(s.rows) }

// firstRung is the hooks of a kernel that has all.
func firstRung(e *schema.Event) []string {
	var hooks []string
	for i, h := range e.Ladder[0] {
		if i == 0 || h.Missed != "" || strings.HasPrefix(h.Target, "Qdisc_ops:") { // functions of all kinds, beside a tracepoint
			hooks = append(hooks, h.String())
		}
	}
	return hooks
}
