package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// outcomes counts results.
type outcomes map[string]int64

// String lists them, most frequent first.
func (o outcomes) String() string {
	names := slices.Collect(maps.Keys(o))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(o[b], o[a]), cmp.Compare(a, b)) })
	for i, n := range names {
		names[i] = engine.Thousands(o[n]) + " " + n
	}
	return strings.Join(names, ", ")
}

// perSecond is n divided by the length of the recording or its selected part.
func perSecond(in *engine.Input, n int64) string {
	ns := in.End() - in.Start()
	if ns <= 0 {
		return "?"
	}
	return fmt.Sprintf("%.1f", float64(n)*1e9/float64(ns))
}

// connectFlow is the key of BCC's count of connects.
type connectFlow struct {
	laddr, raddr string
	rport        int64
}

// showFlows lists the flows with most connects, as BCC does.
func showFlows(in *engine.Input, flows *agg.Top[connectFlow]) {
	t := in.Table(render.Spec{Name: "counts", Columns: []render.Column{render.Col("laddr", render.String).Text("LADDR", -25),
		render.Col("raddr", render.String).Text("RADDR", -25), render.Col("rport", render.Int).Text("RPORT", -20), render.Col("connects", render.Int).Text("CONNECTS", -10)}})
	for _, e := range flows.Best(1<<16, func(a, b connectFlow) int {
		return cmp.Or(cmp.Compare(a.laddr, b.laddr), cmp.Compare(a.raddr, b.raddr), cmp.Compare(a.rport, b.rport))
	}) {
		t.StrOr(e.Key.laddr).StrOr(e.Key.raddr).Int(e.Key.rport).Int(e.Count).End()
	}
}
