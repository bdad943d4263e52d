package scan

import (
	"math"
	"slices"
	"sort"
	"strings"

	"netrec/analyze/parquetfile"
	"netrec/analyze/words"
	"netrec/schema"
)

// describe counts rows by event and finds the range of times. Statistics answer
// for most row groups; for the others the one column is decoded.
func (f *File) describe() error {
	c := census{rows: map[string]int64{}, unknown: map[string]int64{}, one: map[string][]*schema.Event{},
		d: &parquetfile.Decoder{File: f.f, Table: f.table, Pool: newPool(&f.o)}, first: math.MaxInt64, last: math.MinInt64}
	defer c.d.Close()
	var p problems
	keep := f.groups[:0]
	for i := range f.groups {
		g := f.groups[i]
		if err := c.group(&g); err != nil {
			if !f.framed {
				return err
			}
			p.add("a row group of %s is unreadable and was left out: %v", words.Count(int64(g.Rows), "row"), err)
			continue
		}
		if len(g.events) > 0 && g.hasTS {
			keep = append(keep, g)
		}
	}
	f.groups = keep
	f.meta.Rows = c.rows
	if c.first <= c.last {
		f.meta.FirstNS, f.meta.LastNS = c.first, c.last
	}
	c.report(&p)
	f.meta.Problems = append(f.meta.Problems, p.lines()...)
	return nil
}

// census is what describe counts.
type census struct {
	d           *parquetfile.Decoder
	rows        map[string]int64
	unknown     map[string]int64 // by name, the first few
	unknownRows int64
	untimed     int64
	first, last int64
	one         map[string][]*schema.Event // sets of one event, shared
}

func (c *census) group(g *group) error {
	if g.Rows == 0 {
		return nil
	}
	if err := c.times(g); err != nil {
		return err
	}
	if g.hasTS && (g.tsMin < 0 || g.tsMax > maxTime) {
		return parquetfile.Damaged("column ts_ns: a time before 1970 or after 2116")
	}
	if err := c.events(g); err != nil {
		return err
	}
	if g.hasTS && len(g.events) > 0 {
		c.first, c.last = min(c.first, g.tsMin), max(c.last, g.tsMax)
	}
	return nil
}

// times makes sure that the range of times is known.
func (c *census) times(g *group) error {
	if g.hasTS {
		c.untimed += g.tsNulls
		return nil
	}
	var v Vec
	n, err := c.d.Decode(&g.Group, int(colTS), &v)
	if err != nil {
		return err
	}
	defer c.d.Pool.Refund(n)
	defer c.d.Pool.Release(&v)
	g.tsMin, g.tsMax = math.MaxInt64, math.MinInt64
	for i, t := range v.Ints {
		if v.Valid != nil && !v.Valid[i] {
			c.untimed++
			continue
		}
		g.tsMin, g.tsMax, g.hasTS = min(g.tsMin, t), max(g.tsMax, t), true
	}
	if v.Ints == nil {
		c.untimed += int64(g.Rows)
	}
	return nil
}

func (c *census) events(g *group) error {
	if g.event != "" {
		g.events = c.set(g.event)
		c.count(g.event, int64(g.Rows))
		return nil
	}
	var v Vec
	n, err := c.d.Decode(&g.Group, int(colEvent), &v)
	if err != nil {
		return err
	}
	defer c.d.Pool.Refund(n)
	defer c.d.Pool.Release(&v)
	counts := make([]int64, len(v.Dict)+1)
	for _, k := range v.Index {
		counts[k+1]++
	}
	if v.Index == nil {
		counts[0] = int64(g.Rows)
	}
	c.count("NULL", counts[0])
	for k, name := range v.Dict {
		if counts[k+1] == 0 {
			continue
		}
		c.count(name, counts[k+1])
		if e := allEvents[name]; e != nil && !slices.Contains(g.events, e) {
			g.events = append(g.events, e)
		}
	}
	return nil
}

// set is the set of one event, empty if it is unknown.
func (c *census) set(name string) []*schema.Event {
	e := allEvents[name]
	if e == nil {
		return nil
	}
	if c.one[e.Name] == nil {
		c.one[e.Name] = []*schema.Event{e}
	}
	return c.one[e.Name]
}

func (c *census) count(name string, n int64) {
	switch {
	case n == 0:
	case allEvents[name] != nil:
		c.rows[name] += n
	default:
		c.unknownRows += n
		if len(c.unknown) < 5 {
			c.unknown[name] += n
		}
	}
}

func (c *census) report(p *problems) {
	if c.untimed > 0 {
		p.add("%s without a time (ts_ns is NULL) were left out", words.Count(c.untimed, "row"))
	}
	if c.unknownRows == 0 {
		return
	}
	var names []string
	for n := range c.unknown {
		names = append(names, words.Clip(n))
	}
	sort.Strings(names)
	p.add("%s of events that this version does not know were left out (%s); a newer netrec may know them",
		words.Count(c.unknownRows, "row"), strings.Join(names, ", "))
}
