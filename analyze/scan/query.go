package scan

import (
	"math"
	"slices"

	"netrec/analyze/parquetfile"
	"netrec/schema"
)

// selection is a query made ready: every test on a row is a lookup.
type selection struct {
	all      map[string]*schema.Event // events of this schema version
	events   []bool                   // by id; nil for all
	columns  []Col                    // to decode
	visible  []bool                   // by column: the row shows it
	from, to int64
	sock     uint64
	show     map[Col]func(string) string
}

func newSelection(q Query) *selection {
	s := &selection{all: allEvents, from: math.MinInt64, to: math.MaxInt64, sock: q.Sock, show: q.Show, visible: make([]bool, len(schema.Columns))}
	if len(q.Events) > 0 {
		s.events = make([]bool, schema.MaxID)
		for _, name := range q.Events {
			if e := s.all[name]; e != nil {
				s.events[e.ID] = true
			}
		}
	}
	if q.From != 0 {
		s.from = q.From
	}
	if q.To != 0 {
		s.to = q.To
	}
	for c := range s.visible {
		s.visible[c] = q.Columns == nil || slices.Contains(q.Columns, Col(c))
	}
	s.visible[colTS], s.visible[colEvent] = true, true
	for c, show := range s.visible {
		if show {
			s.columns = append(s.columns, Col(c))
		}
	}
	return s
}

var allEvents = func() map[string]*schema.Event {
	m := map[string]*schema.Event{}
	for i := range schema.Events {
		m[schema.Events[i].Name] = &schema.Events[i]
	}
	return m
}()

func (s *selection) wants(e *schema.Event) bool { return s.events == nil || s.events[e.ID] }

// places lists the row groups that may hold selected rows, earliest first.
func (f *File) places(s *selection) []place {
	var out []place
	for i := range f.groups {
		g := &f.groups[i]
		if !slices.ContainsFunc(g.events, s.wants) || g.tsMax < s.from || g.tsMin >= s.to {
			continue
		}
		if s.sock == 0 || f.mayHold(g, s.sock) {
			out = append(out, place{f, g})
		}
	}
	slices.SortStableFunc(out, place.compare)
	return out
}

// mayHold asks statistics and filter about a socket. A filter that cannot be read,
// or is of a kind unknown here, rules nothing out.
func (f *File) mayHold(g *group, sock uint64) bool {
	if g.hasSock && (sock < g.sockMin || sock > g.sockMax) {
		return false
	}
	if g.Filter == 0 {
		return true
	}
	has, err := parquetfile.FilterHas(f.f, g.Filter, f.end, sock)
	return has || err != nil
}
