package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// ecnPair is who sends to whom.
type ecnPair struct{ from, to string }

// ecnInside is what marks on packets of tunnels are counted by.
type ecnInside struct {
	ecnFlow
	inner  ecnPair
	header ecnHeader
	netns  int64
}

func (k *ecnInside) compare(o *ecnInside) int {
	return cmp.Or(k.ecnFlow.compare(o.ecnFlow), cmp.Compare(k.inner.from, o.inner.from), cmp.Compare(k.inner.to, o.inner.to), cmp.Compare(k.header, o.header), cmp.Compare(k.netns, o.netns))
}

// way is the key without what does not tell connections apart: the namespace, of packets
// that are no tunnel's.
func (k *ecnInside) way() ecnInside {
	if k.header == noInner {
		return ecnInside{ecnFlow: k.ecnFlow}
	}
	return *k
}

// ecnConn is a connection whose packets have marks, and the way of these packets.
type ecnConn struct {
	way  ecnInside
	ends ecnEnds
}

// ecnTunnel is how many packets of a kind had a mark, and what became of those with one on
// the outer header alone.
type ecnTunnel struct {
	ecnInside
	marks, copied, dropped, passed int64
}

// ecnTunnels follows packets in and out of tunnels. The sk_buff stays the same one.
type ecnTunnels struct {
	all      map[ecnInside]*ecnTunnel
	pairs    map[ecnPair]*ecnPair
	received agg.Pending[uint64, *ecnTunnel] // in a tunnel, which may end here
	sent     agg.Pending[uint64, *ecnPair]   // not in one yet
	left     int64                           // packets for which there was no room
}

// pass takes a packet at a device, and reports whether its mark was already seen at the
// other side of a tunnel's end.
func (f *ecnTunnels) pass(packet uint64, k ecnInside) (known bool) {
	before, open := f.received.End(packet)
	switch {
	case k.header == noInner && k.dir == "in":
		if known = open && before.inner == (ecnPair{k.from, k.to}); known {
			before.copied++
		}
		return known
	case k.header == noInner:
		if p := bounded(&f.pairs, ecnPair{k.from, k.to}, func(p ecnPair) *ecnPair { return &p }); p != nil {
			f.sent.Begin(packet, p)
		}
		return false
	case open && before.netns == k.netns && before.dev != k.dev && before.inner == k.inner:
		before.passed++
	}
	t := bounded(&f.all, k, func(k ecnInside) *ecnTunnel { return &ecnTunnel{ecnInside: k} })
	if t == nil {
		f.left++
		return false
	}
	if t.marks++; k.dir == "in" {
		f.received.Begin(packet, t)
		return false
	}
	plain, known := f.sent.End(packet)
	return known && *plain == k.inner
}

// bounded finds or makes the entry of a key; nil if there is no room for it.
func bounded[K comparable, V any](m *map[K]*V, key K, fresh func(K) *V) *V {
	v := (*m)[key]
	if v == nil && len(*m) < agg.MaxFlows {
		if *m == nil {
			*m = map[K]*V{}
		}
		v = fresh(key)
		(*m)[key] = v
	}
	return v
}

// dropped ends a packet that nobody wanted.
func (f *ecnTunnels) dropped(packet uint64) {
	f.sent.End(packet)
	if t, open := f.received.End(packet); open {
		t.dropped++
	}
}

// tunnelTable lists the tunnels with most marks, if there are any.
func (f *ipecn) tunnelTable(a *render.Answer) {
	if len(f.tunnels.all) == 0 {
		return
	}
	if n := f.tunnels.left; n > 0 {
		a.Note(fmt.Sprintf("%s of further tunnels are not in the table: it holds %d pairs of addresses and headers", engine.Plural(n, "packet", "packets"), agg.MaxFlows))
	}
	var all []*ecnTunnel
	for _, t := range f.tunnels.all {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *ecnTunnel) int { return cmp.Or(cmp.Compare(b.marks, a.marks), a.compare(&b.ecnInside)) })
	cuts := f.reactions()
	t := render.ListOf(f.in.Table, render.Spec{Name: "tunnels", Title: "packets of tunnels, by the header that has the mark"}, append(
		render.Within(func(k *ecnTunnel) *ecnFlow { return &k.ecnFlow }, ecnFlowFields...),
		render.Text("inner_saddr", func(k *ecnTunnel) string { return k.inner.from }).Text("INNER FROM", -16),
		render.Text("inner_daddr", func(k *ecnTunnel) string { return k.inner.to }).Text("INNER TO", -16),
		render.Text("header", func(k *ecnTunnel) string { return k.header.String() }).Text("HEADER", -12),
		render.TextOr("marked_by", func(k *ecnTunnel) string { return k.by }).Text("MARKED BY", -10),
		render.Num("marks", func(k *ecnTunnel) int64 { return k.marks }).Text("MARKS", 8),
		render.NonZero("cwr", func(k *ecnTunnel) int64 { return cuts[k.way()] }).Text("CWR", 6),
		render.NumOr("copied", func(k *ecnTunnel) (int64, bool) { return k.copied, k.unpacked() }).Text("COPIED", 8),
		render.NumOr("dropped", func(k *ecnTunnel) (int64, bool) { return k.dropped, k.unpacked() }).Text("DROPPED", 8),
		render.NumOr("passed", func(k *ecnTunnel) (int64, bool) { return k.passed, k.unpacked() }).Text("PASSED", 8),
		render.Num("netns", func(k *ecnTunnel) int64 { return k.netns }))...)
	for _, k := range all {
		t.Add(k)
	}
}

// unpacked reports packets whose mark this host has to hand on when it takes them out of the tunnel.
func (k *ecnTunnel) unpacked() bool { return k.dir == "in" && k.header == outerHeader }
