package analyze

import (
	"fmt"

	"netrec/analyze/engine"
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

// ecnColumns are those of a line. The original shows the source alone.
func ecnColumns(compat bool) []render.Column {
	cols := []render.Column{render.Col("time", render.Clock).Text("TIME", 0).ForPeople(), render.Col("what", render.String).Text("WHAT", 0).ForPeople(), render.Col("saddr", render.String).Text("FROM", 0)}
	if !compat {
		cols = append(cols, render.Col("rest", render.String).Text("REST", 0).ForPeople())
	}
	return append(cols, render.Col("daddr", render.String), render.Col("dir", render.String), render.Col("family", render.String),
		render.Col("dev", render.String), render.Col("marked_by", render.String), render.Col("protocol", render.String), render.Col("sport", render.Int), render.Col("dport", render.Int),
		render.Col("header", render.String), render.Col("inner_saddr", render.String), render.Col("inner_daddr", render.String),
		render.Col("inner_protocol", render.String), render.Col("inner_sport", render.Int), render.Col("inner_dport", render.Int), render.Col("ts_ns", render.Int).In("ns"))
}

// put writes the line.
func (f *ipecn) put(r *engine.Row, in ecnInside) {
	if f.t.Int(f.in.Local(r.TS)).Str("ECN CE from:").Str(in.from); !f.compat {
		f.t.Str(in.words())
	}
	f.t.Str(in.to).Str(in.dir).Str(r.Str(f.Family)).Str(in.dev).StrOr(in.by).StrOr(r.Str(f.Protocol)).IntOr(r.Int(f.Sport), r.Has(f.Sport)).IntOr(r.Int(f.Dport), r.Has(f.Dport)).
		StrOr(in.header.String()).StrOr(in.inner.from).StrOr(in.inner.to).StrOr(r.Str(f.inner.InnerProtocol)).IntOr(r.Int(f.inner.InnerSport), r.Has(f.inner.InnerSport)).IntOr(r.Int(f.inner.InnerDport), r.Has(f.inner.InnerDport)).Int(r.TS).End()
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
