package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"netrec/analyze/engine"
	"netrec/analyze/render"
)

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

// counters shows what nstat would: its two counters at start and stop, subtracted.
func (f *skbdrop) counters(a *render.Answer) {
	c, rec := &f.in.Meta.Counters, &f.in.Meta.Recording
	if len(c.Stop) == 0 {
		a.Note("no protocol counters: the recording has no values from its end")
		return
	}
	f.noteOutside(a)
	t := f.in.Table(render.Spec{Name: "counters", Title: "#kernel", Look: render.Lines, Columns: []render.Column{
		render.Col("name", render.String).Text("name", -32), render.Col("increment", render.Int).Text("increment", -16).Sep(""),
		render.Col("per_second", render.Fixed).Digits(1).Text("rate", 7).Sep("")}})
	var names []string
	for name, v := range c.Stop {
		if v != c.Start[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	ns := rec.StopNS - rec.StartNS
	for _, name := range names {
		d := c.Stop[name] - c.Start[name]
		rate := int64(0)
		if ns > 0 {
			rate = int64(float64(d)*1e10/float64(ns) + 0.5)
		}
		t.Str(name).Int(d).IntOr(rate, ns > 0).End()
	}
}
