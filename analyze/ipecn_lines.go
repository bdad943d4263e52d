package analyze

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// ecnHeader says which header of a packet has the mark.
type ecnHeader uint8

const (
	noInner ecnHeader = iota // the only one: it is no tunnel's
	outerHeader
	innerHeader
	bothHeaders
)

func (h ecnHeader) String() string {
	return [...]string{"", "outer", "inner", "outer, inner"}[h]
}

// ecnInner is the columns of the header that a tunnel's packet carries. Older recordings
// have none of them.
type ecnInner struct {
	Tos, InnerTos, InnerSport, InnerDport scan.Int
	InnerSaddr, InnerDaddr, InnerProtocol scan.Str
}

func newEcnInner(in *engine.Input) ecnInner {
	var c ecnInner
	in.Bind(&c)
	return c
}

// header says which of a packet's headers has the mark.
func (c *ecnInner) header(r *engine.Row) ecnHeader {
	const congested = 3
	inner, outer := r.Int(c.InnerTos)&congested == congested, r.Int(c.Tos)&congested == congested
	switch {
	case !r.Has(c.InnerTos):
		return noInner
	case inner && outer:
		return bothHeaders
	case inner:
		return innerHeader
	}
	return outerHeader
}

// ecnLine is a marked packet as a line shows it.
type ecnLine struct {
	*engine.Row
	ecnInside
}

// fields are those of a line. The original shows the source alone.
func (f *ipecn) fields() []render.Field[ecnLine] {
	ts := func(l *ecnLine) int64 { return l.TS }
	text := func(c scan.Str) func(*ecnLine) string { return func(l *ecnLine) string { return l.Str(c) } }
	port := func(c scan.Int) func(*ecnLine) (int64, bool) {
		return func(l *ecnLine) (int64, bool) { return l.Int(c), l.Has(c) }
	}
	fs := []render.Field[ecnLine]{
		line.TimeOfDay(f.in, ts).Text("TIME", 0),
		render.Text("what", func(*ecnLine) string { return "ECN CE from:" }).Text("WHAT", 0).ForPeople(),
		render.Text("saddr", func(l *ecnLine) string { return l.from }).Text("FROM", 0),
	}
	if !f.compat {
		fs = append(fs, render.Text("rest", func(l *ecnLine) string { return l.words() }).Text("REST", 0).ForPeople())
	}
	return append(fs,
		render.Text("daddr", func(l *ecnLine) string { return l.to }),
		render.Text("dir", func(l *ecnLine) string { return l.dir }),
		render.Text("family", text(f.Family)),
		render.Text("dev", func(l *ecnLine) string { return l.dev }),
		render.TextOr("marked_by", func(l *ecnLine) string { return l.by }),
		render.TextOr("protocol", text(f.Protocol)),
		render.NumOr("sport", port(f.Sport)),
		render.NumOr("dport", port(f.Dport)),
		render.TextOr("header", func(l *ecnLine) string { return l.header.String() }),
		render.TextOr("inner_saddr", func(l *ecnLine) string { return l.inner.from }),
		render.TextOr("inner_daddr", func(l *ecnLine) string { return l.inner.to }),
		render.TextOr("inner_protocol", text(f.inner.InnerProtocol)),
		render.NumOr("inner_sport", port(f.inner.InnerSport)),
		render.NumOr("inner_dport", port(f.inner.InnerDport)),
		render.Num("ts_ns", ts).In("ns"))
}

// words is the line behind the source.
func (k *ecnInside) words() string {
	s := fmt.Sprintf("to: %s %s %s", k.to, k.dir, k.dev)
	if k.by != "" {
		s += " marked here by " + k.by
	}
	if k.header != noInner {
		s += fmt.Sprintf(" carrying %s to %s, mark: %s", k.inner.from, k.inner.to, k.header)
	}
	return s
}
