package analyze

import (
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// qdisc is the kind of the discipline that marked the packet. Where none was seen at work,
// that of the start may have: the root of the device, or of one of its queues.
func (f *ipecn) qdisc(r *engine.Row) string {
	if kind := f.queues.of(r); kind != "" {
		return kind
	}
	for _, q := range f.in.Meta.Qdiscs {
		if int64(q.Index) == r.Int(f.Ifindex) && (q.Netns == 0 || int64(q.Netns) == r.Int(f.Netns)) && !neverMarks[q.Kind] {
			return f.names.Get(q.Kind)
		}
	}
	return "an unknown qdisc"
}

// reaction counts where congestion control cuts the window because of a mark.
func (f *ipecn) reaction(r *engine.Row) {
	if r.Str(f.CaState) != "cwr" {
		return
	}
	if k := f.tcpEnds(r); len(f.cuts) < agg.MaxFlows || f.cuts[k] > 0 {
		f.cuts[k]++
	}
	f.socks.reaction(r)
}

// tcpEnds are the ends of the socket that a row is about.
func (f *ipecn) tcpEnds(r *engine.Row) ecnEnds {
	plain := func(c scan.Str) string { return f.names.Get(strings.TrimPrefix(r.Str(c), "::ffff:")) }
	return ecnEnds{plain(f.Laddr), plain(f.Raddr), r.Int(f.Lport), r.Int(f.Rport)}
}

// reactions are how often congestion control cut the window of connections whose packets
// were seen with marks on their way out, by the ways of these packets.
func (f *ipecn) reactions() map[ecnInside]int64 {
	sums := map[ecnInside]int64{}
	for c := range f.conns {
		sums[c.way] += f.cuts[c.ends]
	}
	return sums
}

// ecnFlowFields are those of an ecnFlow but for who marked.
var ecnFlowFields = []render.Field[ecnFlow]{
	render.Text("saddr", func(k *ecnFlow) string { return k.from }).Text("FROM", -16),
	render.Text("daddr", func(k *ecnFlow) string { return k.to }).Text("TO", -16),
	render.Text("dir", func(k *ecnFlow) string { return k.dir }).Text("DIR", -3),
	render.TextOr("dev", func(k *ecnFlow) string { return k.dev }).Text("DEV", -10),
}

type ecnCount = agg.Entry[ecnFlow]

// table lists the flows with most marks. A reaction is the sender's, so it belongs to
// marks on the way out.
func (f *ipecn) table() {
	cuts := f.reactions()
	t := render.ListOf(f.in.Table, render.Spec{Name: "sums"}, append(render.Within(func(e *ecnCount) *ecnFlow { return &e.Key }, ecnFlowFields...),
		render.TextOr("marked_by", func(e *ecnCount) string { return e.Key.by }).Text("MARKED BY", -10),
		render.Num("marks", func(e *ecnCount) int64 { return e.Count }).Text("MARKS", 8),
		render.NonZero("cwr", func(e *ecnCount) int64 { return cuts[ecnInside{ecnFlow: e.Key}] }).Text("CWR", 6))...)
	for _, e := range f.flows.Best(1<<16, ecnFlow.compare) {
		t.Line(e)
	}
}

// share says what part of the ECN-capable packets was marked, by the kernel's counters.
func (f *ipecn) share(a *render.Answer) {
	for _, ip := range []struct{ name, prefix string }{{"IPv4", "IpExtIn"}, {"IPv6", "Ip6In"}} {
		moved := func(name string) int64 {
			c := &f.in.Meta.Counters
			if len(c.Stop) == 0 {
				return 0
			}
			return c.Stop[ip.prefix+name] - c.Start[ip.prefix+name]
		}
		ce := moved("CEPkts")
		if capable := ce + moved("ECT0Pkts") + moved("ECT1Pkts"); ce > 0 {
			a.Note(fmt.Sprintf("kernel counters of the host's own namespace: %s of %s received ECN-capable %s packets were marked",
				engine.Thousands(ce), engine.Thousands(capable), ip.name))
		}
	}
}

// ends are those of the connection that a packet is of, from its sender's side: of the
// inner header, if it is a tunnel's.
func (f *ipecn) ends(r *engine.Row, in *ecnInside) (k ecnEnds, tcp bool) {
	if in.header != noInner {
		return ecnEnds{in.inner.from, in.inner.to, r.Int(f.inner.InnerSport), r.Int(f.inner.InnerDport)}, r.Str(f.inner.InnerProtocol) == "tcp"
	}
	return ecnEnds{in.from, in.to, r.Int(f.Sport), r.Int(f.Dport)}, r.Str(f.Protocol) == "tcp"
}

// mark notes whose packet has a mark, and counts it for the socket of this host, once.
func (f *ipecn) mark(r *engine.Row, in ecnInside, first bool) {
	k, tcp := f.ends(r, &in)
	if c := (ecnConn{in.way(), k}); tcp && in.dir == "out" && len(f.conns) < agg.MaxFlows {
		f.conns[c] = true
	}
	switch {
	case !first:
	case in.dir == "in":
		f.socks.mark(ecnEnds{k.raddr, k.laddr, k.rport, k.lport}, true)
	default:
		f.socks.mark(k, false)
	}
}
