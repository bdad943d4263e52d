package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"netrec/analyze/engine"
	"netrec/analyze/findings"
	"netrec/analyze/scan"
	"netrec/schema"
)

// Series is one line of a chart over the whole time, a value for each column.
type Series struct {
	Name   string  `json:"name"`
	Values []Value `json:"values"`
}

// Value is a number of a chart; one that is not a number leaves a gap.
type Value float64

// MarshalJSON writes null for a gap, as JSON has no other way.
func (v Value) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(v), 'g', 6, 64), nil
}

// timelineColumns is how fine the lines over the whole time are at most.
const timelineColumns = 480

// shownEvents is how many events have a line of their own.
const shownEvents = 7

// timeline counts what happened when.
type timeline struct {
	clock
	in      *engine.Input
	events  [][]Value // by event id, nil for those without rows
	rows    []int64   // by event id
	bytes   [2]Series
	trouble []Series
	again   *engine.Resent
	cpu     []int64 // of the recorder so far, ns, by column; 0 where it did not say

	moved *engine.Bytes

	LostCount, UserNs, SysNs scan.Int
	DropReason, Location     scan.Str
}

func newTimeline(in *engine.Input, c clock) *timeline {
	f := &timeline{clock: c, in: in, events: make([][]Value, schema.MaxID), rows: make([]int64, schema.MaxID), cpu: make([]int64, c.columns), moved: in.Bytes()}
	in.Bind(f)
	f.bytes = [2]Series{f.series("sent"), f.series("received")}
	for i := range schema.Events {
		if e := &schema.Events[i]; !e.Own() {
			in.Use(e.Name, "", f.count)
		}
	}
	f.again = in.Resent()
	f.add(in, "tcp_retrans", "segments retransmitted", func(r *engine.Row) Value { return Value(f.again.Segments(r)) })
	for _, t := range []struct{ event, name string }{{"skb_drop", "packets dropped"}, {"tcp_reset", "resets"}} {
		f.add(in, t.event, t.name, func(r *engine.Row) Value { return 1 })
	}
	f.add(in, "lost", "events lost", func(r *engine.Row) Value { return Value(r.Int(f.LostCount)) })
	in.Use("sock_io", "", f.io)
	in.Use("cost", "", func(r *engine.Row) { f.cpu[f.at(r.TS)] = r.Int(f.UserNs) + r.Int(f.SysNs) })
	return f
}

func (f *timeline) series(name string) Series { return Series{name, make([]Value, f.columns)} }

// add makes a line of what goes wrong.
func (f *timeline) add(in *engine.Input, event, name string, n func(*engine.Row) Value) {
	s := f.series(name)
	f.trouble = append(f.trouble, s)
	in.Use(event, "", func(r *engine.Row) {
		if event != "skb_drop" || !findings.LeftOver(r.Str(f.DropReason), r.Str(f.Location)) {
			s.Values[f.at(r.TS)] += n(r)
		}
	})
}

func (f *timeline) count(r *engine.Row) {
	v := f.events[r.Event.ID]
	if v == nil {
		v = make([]Value, f.columns)
		f.events[r.Event.ID] = v
	}
	v[f.at(r.TS)] += Value(f.in.Weigh(1))
	f.rows[r.Event.ID]++
}

func (f *timeline) io(r *engine.Row) {
	n, sent := f.moved.Moved(r)
	to := &f.bytes[1]
	if sent {
		to = &f.bytes[0]
	}
	to.Values[f.at(r.TS)] += Value(n * f.in.Weigh(0))
}

// busiest are the lines of the events with most rows, and of all others together.
func (f *timeline) busiest() []Series {
	var ids []int
	for i := range schema.Events {
		if id := int(schema.Events[i].ID); f.events[id] != nil {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(f.rows[b], f.rows[a]) })
	var all []Series
	others := f.series("others")
	for i, id := range ids {
		if i < shownEvents {
			all = append(all, Series{schema.ByID(uint16(id)).Name, f.events[id]})
			continue
		}
		for c, v := range f.events[id] {
			others.Values[c] += v
		}
	}
	if len(ids) > shownEvents {
		all = append(all, others)
	}
	return all
}

// own is the share of one CPU that the recorder used, percent, where it said so.
func (f *timeline) own() Series {
	s, last, before := f.series("recorder, percent of a CPU"), -1, int64(0)
	for i := range s.Values {
		s.Values[i] = Value(math.NaN())
	}
	for i, v := range f.cpu {
		if v == 0 {
			continue
		}
		if last >= 0 && v >= before {
			share := Value(100 * float64(v-before) / float64(int64(i-last)*f.width))
			for c := last + 1; c <= i; c++ {
				s.Values[c] = share
			}
		}
		last, before = i, v
	}
	return s
}

// anything reports whether any line has a value other than zero.
func anything(all ...Series) bool {
	return slices.ContainsFunc(all, func(s Series) bool { return slices.ContainsFunc(s.Values, func(v Value) bool { return v != 0 }) })
}
