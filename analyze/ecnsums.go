package analyze

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// table lists the flows with most marks. A reaction is the sender's, so it belongs to
// marks on the way out.
func (f *ipecn) table() {
	cuts := map[string]int64{}
	for _, e := range f.cuts.Best(1<<16, func(a, b string) int { return 0 }) {
		cuts[e.Key] = e.Count
	}
	t := f.in.Table(render.Spec{Name: "sums", Columns: []render.Column{render.Col("saddr", render.String).Text("FROM", -16), render.Col("daddr", render.String).Text("TO", -16),
		render.Col("dir", render.String).Text("DIR", -3), render.Col("dev", render.String).Text("DEV", -10), render.Col("marked_by", render.String).Text("MARKED BY", -10),
		render.Col("marks", render.Int).Text("MARKS", 8), render.Col("cwr", render.Int).Text("CWR", 6)}})
	for _, e := range f.flows.Best(1<<16, ecnFlow.compare) {
		k := e.Key
		t.Str(k.from).Str(k.to).Str(k.dir).StrOr(k.dev).StrOr(k.by).Int(e.Count).IntOr(cuts[k.to], k.dir == "out" && cuts[k.to] > 0).End()
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
			a.Note(fmt.Sprintf("%s packets received in the host's own namespace, by the kernel's counters: %s of %s ECN-capable ones marked", ip.name,
				engine.Group(ce), engine.Group(capable)))
		}
	}
}

// mark counts a mark for the socket of this host that the packet is of.
func (f *ipecn) mark(r *engine.Row, k ecnFlow) {
	switch {
	case f.socks == nil:
	case k.dir == "in":
		f.socks.mark(ecnEnds{k.to, k.from, r.Int(f.dport), r.Int(f.sport)}, true)
	default:
		f.socks.mark(ecnEnds{k.from, k.to, r.Int(f.sport), r.Int(f.dport)}, false)
	}
}
