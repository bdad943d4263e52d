package analyze

import (
	"cmp"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// longLife is a packet and how long it lived.
type longLife struct {
	skb       uint64
	birth, ns int64
	skbs      int64
	fate      fate
}

// longest lists the packets that lived longest.
type longest struct {
	in   *engine.Input
	t    *render.Table
	best *agg.Greatest[longLife]
}

func newLongest(in *engine.Input, n int) *longest {
	return &longest{in: in, best: agg.NewGreatest(min(n, 1e6), func(a, b longLife) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.birth, b.birth), cmp.Compare(a.skb, b.skb))
	}), t: in.Table(render.Spec{Name: "longest", Columns: []render.Column{render.Col("skb", render.Addr).Text("SKB", -18),
		render.Col("birth_s", render.Fixed).Digits(6).Text("BIRTH(s)", 12).In("s"), render.Col("life_ns", render.Int).Text("LIFE_ns", 14).In("ns"),
		render.Col("skbs", render.Int).Text("SKBS", 4), render.Col("became", render.String).Text("BECAME", 0), render.Col("birth_ns", render.Int).In("ns")}})}
}

// Finish writes the table.
func (f *longest) Finish(*render.Answer) {
	for _, l := range f.best.Sorted() {
		f.t.Uint(l.skb).Int((l.birth - f.in.Start()) / 1000).Int(l.ns).Int(l.skbs).Str(l.fate.words()).Int(l.birth).End()
	}
}
