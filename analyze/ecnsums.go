package analyze

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// qdisc is the kind of the discipline that marked the packet: the root of the device, or
// of one of its queues.
func (f *ipecn) qdisc(r *engine.Row) string {
	kind := "an unknown qdisc"
	for _, q := range f.in.Meta.Qdiscs {
		if int64(q.Index) == r.Int(f.ifindex) && (q.Netns == 0 || int64(q.Netns) == r.Int(f.netns)) {
			if kind = q.Kind; kind != "mq" && kind != "noqueue" {
				break
			}
		}
	}
	return f.names.Get(kind)
}

// reaction counts where congestion control cuts the window because of a mark.
func (f *ipecn) reaction(r *engine.Row) {
	if r.Str(f.state) == "cwr" {
		f.cuts.Add(f.names.Get(r.Str(f.raddr)), 1)
		f.socks.reaction(r)
	}
}

// reactions are how often congestion control cut a window, by remote address.
func (f *ipecn) reactions() map[string]int64 {
	cuts := map[string]int64{}
	for _, e := range f.cuts.Best(1<<16, func(a, b string) int { return 0 }) {
		cuts[e.Key] = e.Count
	}
	return cuts
}

// ecnFlowColumns are those of an ecnFlow but for who marked.
func ecnFlowColumns() []render.Column {
	return []render.Column{render.Col("saddr", render.String).Text("FROM", -16), render.Col("daddr", render.String).Text("TO", -16),
		render.Col("dir", render.String).Text("DIR", -3), render.Col("dev", render.String).Text("DEV", -10)}
}

// table lists the flows with most marks. A reaction is the sender's, so it belongs to
// marks on the way out.
func (f *ipecn) table() {
	cuts := f.reactions()
	t := f.in.Table(render.Spec{Name: "sums", Columns: append(ecnFlowColumns(), render.Col("marked_by", render.String).Text("MARKED BY", -10),
		render.Col("marks", render.Int).Text("MARKS", 8), render.Col("cwr", render.Int).Text("CWR", 6))})
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

// mark counts a mark for the socket of this host that the packet is of: the inner one, if it
// is a tunnel's.
func (f *ipecn) mark(r *engine.Row, in ecnInside) {
	from, to, sport, dport := in.from, in.to, r.Int(f.sport), r.Int(f.dport)
	if in.header != noInner {
		from, to, sport, dport = in.inner.from, in.inner.to, r.Int(f.inner.sport), r.Int(f.inner.dport)
	}
	if in.dir == "in" {
		f.socks.mark(ecnEnds{to, from, dport, sport}, true)
	} else {
		f.socks.mark(ecnEnds{from, to, sport, dport}, false)
	}
}
