package analyze

import (
	"cmp"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/packets"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "skbdrop",
	Group:    groupLost,
	Question: "where in the kernel are packets dropped, and which protocol counters moved?",
	Main:     []string{"stacks", "drops"},
	Help: `First, the protocol counters that changed between start and stop of the recording (name,
increment, increment per second), for the network namespaces in the filter or with a
process at the start. Then dropped packets by kernel stack, rarest first, then by reason
and the function that dropped them. Kernels before 5.17 give no reason.

--each prints one line per packet instead of the stacks: owner of its socket, device,
addresses, reason and place. --by counts packets by any of these; --by second,reason shows
them over time. A packet has a device if it was seen at one (dev_queue, dev_recv …).
The original counts by the eight innermost frames; its count is the same.
Drops in hardware, or before the packet became an sk_buff, are not seen.`,
	Example: "skbdrop --by second,reason,dev",
	Options: []engine.Option{{Name: "frames", Kind: engine.Number, Default: "8", Doc: "use this many innermost frames of a stack; 0 for all"},
		{Name: "each", Kind: engine.Flag, Doc: "a line per packet instead of counts"},
		engine.By("kstack", append([]string{"reason", "location", "dev", "flow", "second", "minute", "ctx", "cpu"}, engine.SocketKeys...)...)},
	New: newSkbdrop,
})

type dropKey struct{ reason, location string }

type skbdrop struct {
	in     *engine.Input
	keys   *engine.Keys
	counts *shape.Map[engine.Key, int64]
	lines  *dropLines  // nil without --each
	devs   *skbDevices // nil unless asked for
	why    agg.Top[dropKey]
	frames int

	kstack, reason, location, netns scan.Col
	drops, unsaid                   int64
	bare                            packets.Stackless
	uncounted                       agg.Keyed[int64, int64] // drops in namespaces that the counters leave out
}

func newSkbdrop(in *engine.Input) engine.Fold {
	f := &skbdrop{in: in, frames: in.Number("frames"), kstack: in.Str("kstack"), reason: in.Str("drop_reason"), location: in.Str("location"), netns: in.Int("netns")}
	f.bare.Stack = f.kstack
	f.keys = in.Keys(f.own())
	if in.Flag("each") {
		f.lines = newDropLines(in)
	} else {
		f.counts = shape.Count[engine.Key](in, "stacks", f.keys.Columns...)
		f.counts.Table.Unnamed = true
	}
	if f.lines != nil || slices.ContainsFunc(f.keys.Columns, func(c render.Column) bool { return c.Name == "dev" }) {
		f.devs = newSkbDevices(in, "the devices of dropped packets are not known")
	}
	in.On("skb_drop", f.row)
	return f
}

func (f *skbdrop) row(r *engine.Row) {
	if f.lines != nil {
		f.lines.add(r, f.devs.of(r))
	} else {
		f.counts.Add(f.keys.Of(r), 1)
	}
	f.drops++
	f.outside(r.Int(f.netns))
	f.bare.Row(r)
	if !r.Has(f.reason) {
		f.unsaid++
	}
	f.why.Add(dropKey{r.Str(f.reason), r.Str(f.location)}, 1)
}

// Finish writes counters, stacks and reasons.
func (f *skbdrop) Finish(a *render.Answer) {
	if f.lines != nil {
		f.lines.Finish(a) // most are written already
	}
	if f.counters(a); f.drops == 0 {
		return
	}
	if f.counts != nil {
		f.counts.Finish(a)
	}
	t := f.in.Table(render.Spec{Name: "reasons", Columns: []render.Column{
		render.Col("reason", render.String).Text("REASON", -28), render.Col("location", render.String).Text("LOCATION", -40),
		render.Col("count", render.Int).Text("COUNT", 8)}})
	for _, e := range f.why.Best(1<<16, func(a, b dropKey) int {
		return cmp.Or(cmp.Compare(a.reason, b.reason), cmp.Compare(a.location, b.location))
	}) {
		t.StrOr(e.Key.reason).StrOr(e.Key.location).Int(e.Count).End()
	}
	f.bare.Finish(a)
	if f.unsaid > 0 {
		a.Note(engine.Plural(f.unsaid, "drop", "drops") + " without a reason: this kernel does not give one")
	}
}
