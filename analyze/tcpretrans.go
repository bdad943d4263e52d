package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
)

var _ = register(engine.Analysis{
	Name:     "tcpretrans",
	Group:    groupLost,
	Question: "which connections retransmit, in which state, and was the loss on this host?",
	Help: `One line per buffer that TCP retransmitted. T is R for a retransmission, L for a tail loss
probe, S for a SYN-ACK. SEGS is the number of segments in the buffer, as RetransSegs, ss and
iperf3 count them; 0 for a probe with new data and for a failed attempt. PID is the owner of
the socket. CWND is the congestion window at the last received segment, and at the
retransmission. LOSS is why this host dropped a packet of that flow since the last
retransmission, with the queueing discipline if the kernel names it, or elsewhere if this
host dropped none. It is unknown for a probe that TCP sends because an ACK is late, and none
with a zero window of the peer: nothing need be lost then.
-c counts segments per connection. --bpftrace prints the columns of the bpftrace version.
The originals show the process on the CPU, usually not the owner, and count buffers;
--compat does the same, without S, and with -l shows L in addition to its R.
Kernels up to 6.12 do not report failed attempts, such as packets that this host's own
queue refused; RetransSegs counts those.`,
	Example: "tcpretrans -c --port 443",
	Options: slices.Concat([]engine.Option{
		{Name: "lossprobe", Short: "l", Kind: engine.Flag, Doc: "with --compat: tail loss probes too"},
		{Name: "sequence", Short: "s", Kind: engine.Flag, Doc: "sequence number and length"},
		{Name: "count", Short: "c", Kind: engine.Flag, Doc: "retransmitted segments per connection instead of lines"},
		{Name: "bpftrace", Kind: engine.Flag, Doc: "columns of the bpftrace version"}},
		line.FamilyOptions, []engine.Option{engine.Compat("process on the CPU, no SYN-ACKs, buffers counted")}),
	New: newTcpretrans,
})

type tcpretrans struct {
	in     *engine.Input
	t      *render.List[resentLine]
	family line.FamilyFilter
	lines  line.Waiting[resent]
	reader *resends
	kinds  line.Outcomes
	ends   agg.Top[flowEnds]

	compat, probes, seq, counts, script bool
	all, segs, strangers, here          int64
}

// flowEnds is the key of the count per connection.
type flowEnds struct{ local, remote string }

type resentCount = agg.Entry[flowEnds]

var resentCountFields = []render.Field[resentCount]{
	render.Text("local", func(c *resentCount) string { return c.Key.local }).Text("LADDR:LPORT", -25),
	render.Text("remote", func(c *resentCount) string { return c.Key.remote }).Text("RADDR:RPORT", -25),
	render.Num("retransmits", func(c *resentCount) int64 { return c.Count }).Text("RETRANSMITS", -10).In("segments"),
}

func newTcpretrans(in *engine.Input) engine.Fold {
	f := &tcpretrans{in: in, family: line.NewFamilyFilter(in), kinds: line.Outcomes{}, compat: in.Flag("compat"), probes: in.Flag("lossprobe"),
		seq: in.Flag("sequence"), counts: in.Flag("count"), script: in.Flag("bpftrace")}
	in.Sockets("")
	f.reader = newResends(in, f.compat, f.sent)
	f.lines.Line = f.line
	in.OnEnd(f.lines.Ended)
	f.t = render.ListOf(in.Table, render.Spec{Name: "retransmits"}, f.fields()...)
	return f
}

// sent takes what was retransmitted; s is the connection or the listener.
func (f *tcpretrans) sent(s *agg.Socket, ts int64, v resent) {
	if f.compat && (v.kind == "S" || v.kind == "L" && !f.probes) || !f.family.Wants(v.raddr) {
		return
	}
	f.all++
	f.segs += v.segs
	f.kinds[v.kind]++
	if v.why != "" {
		f.here++
	}
	if f.counts {
		n := v.segs
		if f.compat {
			n = 1
		}
		if n > 0 {
			f.ends.Add(flowEnds{line.EndOf(v.laddr, v.lport), line.EndOf(v.raddr, v.rport)}, n)
		}
		return
	}
	f.lines.Add(s, ts, v)
}

func (f *tcpretrans) line(s *agg.Socket, ts int64, v resent) {
	pid, comm := s.Pid, s.Comm
	if pid != 0 && pid != v.task.Pid {
		f.strangers++
	}
	if f.compat {
		pid, comm = v.task.Pid, v.task.Comm
	}
	if v.why == "" && f.reader.losses.told && v.data {
		v.why = cmp.Or(v.probe, "elsewhere")
	}
	f.t.Line(resentLine{v, s, ts, pid, comm})
}

// Finish writes the counts and tells the rules apart.
func (f *tcpretrans) Finish(a *render.Answer) {
	f.lines.Rest()
	t := render.ListOf(f.in.Table, render.Spec{Name: "counts"}, resentCountFields...)
	for _, e := range f.ends.Best(1<<16, func(a, b flowEnds) int { return cmp.Or(cmp.Compare(a.local, b.local), cmp.Compare(a.remote, b.remote)) }) {
		t.Line(e)
	}
	if f.all == 0 {
		return
	}
	a.Note(fmt.Sprintf("retransmitted %s %s in %s (%s); for %s of the lines, this host had dropped the packet", engine.Thousands(f.segs), f.reader.again.Noun(f.segs),
		engine.Plural(f.all, "line", "lines"), f.kinds, engine.Thousands(f.here)))
	f.reader.again.Note(a)
	if f.strangers > 0 {
		a.Note(fmt.Sprintf("the process on the CPU is not the owner in %s; the originals show the process on the CPU (--compat)", engine.Thousands(f.strangers)))
	}
}
