package analyze

import (
	"cmp"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// fate is how packets came to their end.
type fate struct {
	how  agg.Derivation
	drop bool
}

// fateSum is how many packets had a fate, and how long they lived.
type fateSum struct {
	fate
	*agg.Stats
}

var fateFields = []render.Field[fateSum]{
	render.Text("became", func(s *fateSum) string { return s.words() }).Text("BECAME", -44),
	render.Num("packets", func(s *fateSum) int64 { return s.Count }).Text("PACKETS", 10),
	render.Num("average_ns", func(s *fateSum) int64 { return s.Average() }).Text("AVG_ns", 12).In("ns"),
	render.Num("max_ns", func(s *fateSum) int64 { return s.Max }).Text("MAX_ns", 12).In("ns"),
}

// listFates is the table of what packets became, most frequent first.
func listFates(in *engine.Input, became *agg.Keyed[fate, agg.Stats]) {
	t := render.ListOf(in.Table, render.Spec{Name: "became"}, fateFields...)
	keys := became.Sorted(func(s *agg.Stats) int64 { return -s.Count }, func(a, b fate) int {
		return cmp.Compare(a.words(), b.words())
	})
	for _, k := range keys {
		t.Line(fateSum{k, became.At(k)})
	}
}

// words is what became of packets of this fate.
func (k fate) words() string {
	var ws []string
	for _, w := range []struct {
		how  agg.Derivation
		word string
	}{{agg.Cloned, "cloned"}, {agg.Copied, "copied"}, {agg.Cut, "cut into segments"},
		{agg.MergedGRO, "merged by GRO"}, {agg.MergedTCP, "merged by TCP"}} {
		if k.how&w.how != 0 {
			ws = append(ws, w.word)
		}
	}
	switch {
	case k.drop:
		ws = append(ws, "dropped")
	case k.how&(agg.MergedGRO|agg.MergedTCP) == 0:
		ws = append(ws, "consumed")
	}
	return strings.Join(ws, ", ")
}

// packet counts a packet that is over with this row.
func (f *skblife) packet(r *engine.Row, p *agg.Packet) {
	if p == nil {
		return
	}
	ns := r.TS - p.Birth
	f.packets.Add(f.keys.Of(r), ns)
	if f.longest != nil {
		f.longest.best.Add(longLife{p.First, p.Birth, ns, p.Skbs, fate{p.How, p.Drop}})
	}
	if s := f.became.At(fate{p.How, p.Drop}); s != nil {
		s.Add(ns)
	}
}

// dropped notes a drop where it is not the end itself: skb_free tells of that, or, without it and
// with a share of packets, it may be another packet's, at the address of one that ended unseen.
func (f *skblife) dropped(addr uint64) {
	if f.whole {
		f.skbs.Dropped(addr)
		return
	}
	f.skbs.Lost(addr)
	f.original.freed(addr)
}

func (f *skblife) derived(r *engine.Row) {
	if r.Int(f.Ok) == 0 {
		return
	}
	child, parent := r.Uint(f.Skb), r.Uint(f.ParentSkb)
	switch r.Str(f.DeriveKind) {
	case "clone":
		f.skbs.Derived(parent, child, r.TS, agg.Cloned)
		f.original.cloned(parent, child, r.TS)
	case "copy":
		f.skbs.Derived(parent, child, r.TS, agg.Copied)
	case "segment":
		f.skbs.Derived(parent, child, r.TS, agg.Cut)
	case "gro":
		f.packet(r, f.skbs.Merged(child, agg.MergedGRO))
	case "coalesce":
		f.packet(r, f.skbs.Merged(child, agg.MergedTCP))
	}
}

// longLife is a packet and how long it lived.
type longLife struct {
	skb       uint64
	birth, ns int64
	skbs      int64
	fate      fate
}

// longest lists the packets that lived longest.
type longest struct {
	t    *render.List[longLife]
	best *agg.Greatest[longLife]
}

func newLongest(in *engine.Input, n int) *longest {
	return &longest{best: agg.NewGreatest(min(n, 1e6), func(a, b longLife) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.birth, b.birth), cmp.Compare(a.skb, b.skb))
	}), t: render.ListOf(in.Table, render.Spec{Name: "longest"},
		render.Address("skb", func(l *longLife) uint64 { return l.skb }).Text("SKB", -18),
		render.Num("birth_s", func(l *longLife) int64 { return (l.birth - in.Start()) / 1000 }).As(render.Fixed).Digits(6).Text("BIRTH(s)", 12).In("s"),
		render.Num("life_ns", func(l *longLife) int64 { return l.ns }).Text("LIFE_ns", 14).In("ns"),
		render.Num("skbs", func(l *longLife) int64 { return l.skbs }).Text("SKBS", 4),
		render.Text("became", func(l *longLife) string { return l.fate.words() }).Text("BECAME", 0),
		render.Num("birth_ns", func(l *longLife) int64 { return l.birth }).In("ns"))}
}

// Finish writes the table.
func (f *longest) Finish(*render.Answer) {
	for _, l := range f.best.Sorted() {
		f.t.Line(l)
	}
}
