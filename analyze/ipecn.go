package analyze

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "ipecn",
	Group:    groupLost,
	Question: "which hosts' packets carry the mark for congestion, in and out, and who set it?",
	Help: `One line per packet marked CE (congestion experienced) that a device received or was given
to send, IPv4 and IPv6. A packet without a mark before the queueing discipline and with one
after it was marked here; the line names the kind of discipline, the innermost one that
the packet was in. Then the marks per source, destination and device, and for packets that
this host sends, how often the congestion control of their TCP connections reacted (CWR).
A packet of a tunnel (IPIP, 6in4, IP in IPv6, GRE, VXLAN and GENEVE at their ports; on the
way out, any that the kernel knows) has a second IP header, and either header or both can
have the mark. The line says which, outer or inner, with the addresses of the inner one. If
a queue marks the outer header of a packet whose inner header was already marked, the
packet has two lines. For received packets with a mark on the outer header only, the table
counts what happened to it: COPIED to the inner header at the end of the tunnel, as it
should be; DROPPED there because the inner header is not ECN-capable; or PASSED on, still
in the tunnel. The rest left without a mark, or unseen.
Last, the sockets of this host that send or receive these packets (in tunnels: those of the
inner header), how often each reduced its window, and the newest reduction, from the
window to the threshold.
Not seen: the inner header of later fragments, behind encryption, in an inner VLAN, or
where a driver left it outside the packet's first piece; these rows have only the outer
header. Of tunnels in tunnels, only the two outermost headers are read. A large packet that
is segmented counts as one before the queue and as several after it; its segments count as
packets of their own, and marks that it already had count as made here.
If the recording has the kernel's counters, a note says what share of the received
ECN-capable packets was marked.
The original sees only received IPv4 packets and their outer header; --compat shows those.`,
	Example: "ipecn --addr 10.0.0.0/8",
	Options: []engine.Option{engine.Compat("IPv4 packets received only, by their outer header")},
	New:     newIpecn,
})

// ecnFlow is what marks are counted by.
type ecnFlow struct{ from, to, dir, dev, by string }

func (k ecnFlow) compare(o ecnFlow) int {
	return cmp.Or(cmp.Compare(k.from, o.from), cmp.Compare(k.to, o.to), cmp.Compare(k.dir, o.dir), cmp.Compare(k.dev, o.dev), cmp.Compare(k.by, o.by))
}

type ipecn struct {
	in      *engine.Input
	t       *render.List[ecnLine]
	queued  agg.Pending[uint64, ecnHeader] // already marked before the queue, and in which header
	flows   agg.Top[ecnFlow]
	cuts    map[ecnEnds]int64 // reactions of congestion control
	conns   map[ecnConn]bool
	queues  *ecnQueues
	names   agg.Intern
	tunnels ecnTunnels
	socks   *ecnSocks // nil with --compat
	compat  bool
	others  int64 // that the original does not see

	inner ecnInner

	Sport, Dport, Ifindex, Netns, Skb, Lport, Rport                        scan.Int
	Dir, Stage, Family, Saddr, Daddr, Dev, Protocol, CaState, Laddr, Raddr scan.Str
}

func newIpecn(in *engine.Input) engine.Fold {
	f := &ipecn{in: in, cuts: map[ecnEnds]int64{}, conns: map[ecnConn]bool{}, queues: newEcnQueues(in), compat: in.Flag("compat"), inner: newEcnInner(in)}
	in.Bind(f)
	in.On("ip_ecn", f.row)
	in.Use("skb_drop", "", func(r *engine.Row) { // the address is free for another
		f.queued.End(r.Uint(f.Skb))
		f.tunnels.dropped(r.Uint(f.Skb))
	})
	if !f.compat {
		f.socks = newEcnSocks(in)
		in.Use("tcp_cong_state", "reactions of congestion control are not counted", f.reaction)
	}
	f.t = render.ListOf(in.Table, render.Spec{Name: "marks", Look: render.Lines}, f.fields()...)
	return f
}

func (f *ipecn) row(r *engine.Row) {
	packet, header, by := r.Uint(f.Skb), f.inner.header(r), ""
	first := true
	switch r.Str(f.Stage) {
	case "queued":
		f.queued.Begin(packet, header)
	case "started":
		before, known := f.queued.End(packet)
		if known && before == header {
			return // the line at the queue is its
		}
		if first = !known; header != innerHeader { // which no queue marks
			by = f.qdisc(r)
		}
	}
	if seen := r.Str(f.Dir) == "recv" && r.Str(f.Family) == "inet" && header != innerHeader; !seen {
		if f.others++; f.compat {
			return
		}
	}
	f.line(r, header, by, first)
}

// line shows a mark and counts it; for the socket only if it is the first of its packet.
func (f *ipecn) line(r *engine.Row, header ecnHeader, by string, first bool) {
	k := ecnFlow{f.names.Get(r.Str(f.Saddr)), f.names.Get(r.Str(f.Daddr)), "in", f.names.Get(r.Str(f.Dev)), by}
	if r.Str(f.Dir) == "send" {
		k.dir = "out"
	}
	in := ecnInside{ecnFlow: k, header: header, netns: r.Int(f.Netns)}
	if header == noInner {
		f.flows.Add(k, 1)
	} else {
		in.inner.from, in.inner.to = f.names.Get(r.Str(f.inner.InnerSaddr)), f.names.Get(r.Str(f.inner.InnerDaddr))
	}
	known := f.tunnels.pass(r.Uint(f.Skb), in)
	if f.socks != nil {
		f.mark(r, in, first && !known)
	}
	f.t.Line(ecnLine{r, in})
}

// Finish counts per flow and tells the rules apart.
func (f *ipecn) Finish(a *render.Answer) {
	if !f.compat {
		f.table()
		f.tunnelTable(a)
		f.socks.Finish(a)
		f.share(a)
	}
	shape.NoteRules(a, f.others, f.compat,
		fmt.Sprintf("--compat: left out %s: sent, IPv6, or marked inside a tunnel", engine.Plural(f.others, "packet", "packets")),
		fmt.Sprintf("%s: sent, IPv6, or marked inside a tunnel; the original does not see these (--compat)", engine.Plural(f.others, "packet", "packets")))
}
