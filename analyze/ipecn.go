package analyze

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "ipecn",
	Group:    groupLost,
	Question: "which hosts' packets carry the mark for congestion, in and out, and who set it?",
	Help: `One line per packet marked CE (congestion experienced) that a device received or was
given to send, IPv4 and IPv6. A packet that has no mark before the queueing
discipline and one after it was marked here: the line says by which kind. Then the
marks per source, destination and device, with how often congestion control of the
sending socket reacted (CWR) if it is on this host. Last the sockets of this host whose
packets these are: who receives them or sends them, how often it cut its window, and the
newest cut, from the window to the threshold. The header looked at is the outer one;
what segmentation makes of a marked packet counts as marked here. Where the recording
has the kernel's counters, a note says what share of the ECN-capable packets received
was marked.
The original sees IPv4 packets received only: --compat shows those.`,
	Example: "ipecn --addr 10.0.0.0/8",
	Options: []engine.Option{engine.Compat("IPv4 packets received only")},
	New:     newIpecn,
})

// ecnFlow is what marks are counted by.
type ecnFlow struct{ from, to, dir, dev, by string }

func (k ecnFlow) compare(o ecnFlow) int {
	return cmp.Or(cmp.Compare(k.from, o.from), cmp.Compare(k.to, o.to), cmp.Compare(k.dir, o.dir), cmp.Compare(k.dev, o.dev), cmp.Compare(k.by, o.by))
}

type ipecn struct {
	in     *engine.Input
	t      *render.Table
	queued agg.Spans[uint64] // already marked before the queue
	flows  agg.Top[ecnFlow]
	cuts   agg.Top[string] // reactions of congestion control, by remote address
	names  agg.Intern
	socks  *ecnSocks // nil with --compat
	compat bool
	others int64 // that the original does not see

	dir, stage, family, saddr, daddr, sport, dport scan.Col
	dev, ifindex, netns, skb, proto, state, raddr  scan.Col
}

func newIpecn(in *engine.Input) engine.Fold {
	f := &ipecn{in: in, compat: in.Flag("compat"), dir: in.Str("dir"), stage: in.Str("stage"), family: in.Str("family"), saddr: in.Str("saddr"), daddr: in.Str("daddr"),
		sport: in.Int("sport"), dport: in.Int("dport"), dev: in.Str("dev"), ifindex: in.Int("ifindex"), netns: in.Int("netns"), skb: in.Int("skb"), proto: in.Str("protocol"),
		state: in.Str("ca_state"), raddr: in.Str("raddr")}
	in.On("ip_ecn", f.row)
	in.Use("skb_drop", "", func(r *engine.Row) { f.queued.End(r.Uint(f.skb)) }) // the address is free for another
	cols := []render.Column{render.Col("time", render.Clock).Text("TIME", 0).ForPeople(), render.Col("what", render.String).Text("WHAT", 0).ForPeople(), render.Col("saddr", render.String).Text("FROM", 0)}
	if !f.compat {
		f.socks = newEcnSocks(in)
		in.Use("tcp_cong_state", "reactions of congestion control are not counted", f.reaction)
		cols = append(cols, render.Col("rest", render.String).Text("REST", 0).ForPeople())
	}
	f.t = in.Table(render.Spec{Name: "marks", Look: render.Lines, Columns: append(cols, render.Col("daddr", render.String), render.Col("dir", render.String), render.Col("family", render.String),
		render.Col("dev", render.String), render.Col("marked_by", render.String), render.Col("protocol", render.String), render.Col("sport", render.Int), render.Col("dport", render.Int), render.Col("ts_ns", render.Int).In("ns"))})
	return f
}

func (f *ipecn) row(r *engine.Row) {
	packet, by := r.Uint(f.skb), ""
	switch r.Str(f.stage) {
	case "queued":
		f.queued.Begin(packet, r.TS)
	case "started":
		if _, before := f.queued.End(packet); before {
			return // the line at the queue is its
		}
		by = f.qdisc(r)
	}
	if seen := r.Str(f.dir) == "recv" && r.Str(f.family) == "inet"; !seen {
		if f.others++; f.compat {
			return
		}
	}
	f.line(r, by)
}

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

func (f *ipecn) line(r *engine.Row, by string) {
	k := ecnFlow{f.names.Get(r.Str(f.saddr)), f.names.Get(r.Str(f.daddr)), "in", f.names.Get(r.Str(f.dev)), by}
	if r.Str(f.dir) == "send" {
		k.dir = "out"
	}
	f.flows.Add(k, 1)
	f.mark(r, k)
	if f.t.Int(f.in.Local(r.TS)).Str("ECN CE from:").Str(k.from); !f.compat {
		rest := fmt.Sprintf("to: %s %s %s", k.to, k.dir, k.dev)
		if by != "" {
			rest += " marked here by " + by
		}
		f.t.Str(rest)
	}
	f.t.Str(k.to).Str(k.dir).Str(r.Str(f.family)).Str(k.dev).StrOr(by).StrOr(r.Str(f.proto)).IntOr(r.Int(f.sport), r.Has(f.sport)).IntOr(r.Int(f.dport), r.Has(f.dport)).Int(r.TS).End()
}

// Finish counts per flow and tells the rules apart.
func (f *ipecn) Finish(a *render.Answer) {
	if !f.compat {
		f.table()
		f.socks.Finish(a)
		f.share(a)
	}
	noteRules(a, f.others, f.compat,
		fmt.Sprintf("original rule: %s sent or of IPv6 left out", plural(f.others, "packet", "packets")),
		fmt.Sprintf("%s sent or of IPv6, which the original does not see (--compat)", plural(f.others, "packet", "packets")))
}
