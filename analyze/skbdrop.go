package analyze

import (
	"cmp"
	"fmt"
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

	drops, unsaid int64
	bare          packets.Stackless
	uncounted     agg.Keyed[int64, int64] // drops in namespaces that the counters leave out

	Netns                        scan.Int
	Kstack, DropReason, Location scan.Str
}

func newSkbdrop(in *engine.Input) engine.Fold {
	f := &skbdrop{in: in, frames: in.Number("frames")}
	in.Bind(f)
	f.bare.Stack = f.Kstack
	f.keys = in.Keys(f.own())
	if in.Flag("each") {
		f.lines = newDropLines(in)
	} else {
		f.counts = shape.Count(in, "stacks", f.keys.Fields...)
		f.counts.Table.Unnamed = true
	}
	if f.lines != nil || f.keys.Has("dev") {
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
	f.outside(r.Int(f.Netns))
	f.bare.Row(r)
	if !r.HasStr(f.DropReason) {
		f.unsaid++
	}
	f.why.Add(dropKey{r.Str(f.DropReason), r.Str(f.Location)}, 1)
}

// Finish writes reasons, counters and stacks.
func (f *skbdrop) Finish(a *render.Answer) {
	if f.lines != nil {
		f.lines.Finish(a) // most are written already
	}
	f.reasons()
	f.counters(a)
	if f.drops == 0 {
		return
	}
	if f.counts != nil {
		f.counts.Finish(a)
	}
	f.bare.Finish(a)
	if f.unsaid > 0 {
		a.Note(engine.Plural(f.unsaid, "drop", "drops") + " without a reason: this kernel does not give one")
	}
}

type dropCount = agg.Entry[dropKey]

var dropCountFields = []render.Field[dropCount]{
	render.TextOr("reason", func(c *dropCount) string { return c.Key.reason }).Text("REASON", -28),
	render.TextOr("location", func(c *dropCount) string { return c.Key.location }).Text("LOCATION", -40),
	render.Num("count", func(c *dropCount) int64 { return c.Count }).Text("COUNT", 8),
}

// reasons lists why and where packets were dropped, the most frequent first.
func (f *skbdrop) reasons() {
	t := render.ListOf(f.in.Table, render.Spec{Name: "reasons"}, dropCountFields...)
	for _, e := range f.why.Best(1<<16, func(a, b dropKey) int {
		return cmp.Or(cmp.Compare(a.reason, b.reason), cmp.Compare(a.location, b.location))
	}) {
		t.Line(e)
	}
}

// own are the keys that a dropped packet itself has.
func (f *skbdrop) own() map[string]engine.KeyDef {
	saddr, sport, daddr, dport := f.in.Str("saddr"), f.in.Int("sport"), f.in.Str("daddr"), f.in.Int("dport")
	return map[string]engine.KeyDef{
		"kstack": {render.Text("kstack", func(r *engine.Row) string {
			return packets.Innermost(cmp.Or(r.Str(f.Kstack), r.Str(f.Location)), f.frames)
		}).As(render.Stack)},
		"location": {render.TextOr("location", func(r *engine.Row) string { return r.Str(f.Location) })},
		"dev":      {render.TextOr("dev", func(r *engine.Row) string { return f.devs.of(r) })},
		"flow": {render.TextOr("from", func(r *engine.Row) string { from, _ := packets.Ends(r, saddr, sport, daddr, dport); return from }),
			render.TextOr("to", func(r *engine.Row) string { _, to := packets.Ends(r, saddr, sport, daddr, dport); return to })},
	}
}

// outside counts a drop in a namespace whose protocol counters were not read.
func (f *skbdrop) outside(netns int64) {
	if list := f.in.Meta.Counters.Netns; netns == 0 || len(list) == 0 || slices.Contains(list, uint32(netns)) {
		return
	}
	if n := f.uncounted.At(netns); n != nil {
		*n++
	}
}

// noteOutside says what the protocol counters leave out.
func (f *skbdrop) noteOutside(a *render.Answer) {
	if n := int64(f.in.Meta.Counters.Left); n > 0 {
		a.Note("the counters do not cover " + engine.Plural(n, "network namespace", "network namespaces") + " without a process")
	}
	drops := int64(0)
	for _, k := range f.uncounted.Sorted(func(n *int64) int64 { return -*n }, cmp.Compare[int64]) {
		drops += *f.uncounted.At(k)
	}
	if drops > 0 {
		a.Note(fmt.Sprintf("%s of %s dropped packets were in %s that the counters do not cover: no process was there at the start", engine.Thousands(drops), engine.Thousands(f.drops),
			engine.Plural(int64(f.uncounted.Len()), "network namespace", "network namespaces")))
	}
}

// increment is how far a counter went.
type increment struct {
	name string
	by   int64
	ns   int64 // in this time
}

// perSecond is in tenths.
func (c *increment) perSecond() (int64, bool) {
	if c.ns <= 0 {
		return 0, false
	}
	return int64(float64(c.by)*1e10/float64(c.ns) + 0.5), true
}

var incrementFields = []render.Field[increment]{
	render.Text("name", func(c *increment) string { return c.name }).Text("name", -32),
	render.Num("increment", func(c *increment) int64 { return c.by }).Text("increment", -16).Sep(""),
	render.NumOr("per_second", (*increment).perSecond).As(render.Fixed).Digits(1).Text("rate", 7).Sep(""),
}

// counters shows what nstat would: its two counters at start and stop, subtracted.
func (f *skbdrop) counters(a *render.Answer) {
	c, rec := &f.in.Meta.Counters, &f.in.Meta.Recording
	if len(c.Stop) == 0 {
		a.Note("no protocol counters: the recording has no values from its end")
		return
	}
	f.noteOutside(a)
	t := render.ListOf(f.in.Table, render.Spec{Name: "counters", Title: "#kernel", Look: render.Lines}, incrementFields...)
	var names []string
	for name, v := range c.Stop {
		if v != c.Start[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		t.Line(increment{name, c.Stop[name] - c.Start[name], rec.StopNS - rec.StartNS})
	}
}
