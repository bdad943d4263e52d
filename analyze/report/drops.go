package report

import (
	"cmp"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

// Bounds of what the page says about drops.
const (
	shownReasons = 12
	shownStacks  = 3   // of a reason
	shownFrames  = 10  // innermost ones of a stack
	maxFrame     = 200 // bytes of a frame
	maxReasons   = 256
	maxKept      = 1 << 12 // places and stacks of all reasons
	reasonLines  = 6       // reasons with a line of their own in the chart
)

// dropped is how many packets were dropped for a reason, where and when.
type dropped struct {
	n      int64
	places map[string]int64
	stacks map[string]int64
	when   []Value
}

// drops counts packets by the reason why they were dropped.
type drops struct {
	clock
	reasons agg.Keyed[string, dropped]
	names   agg.Intern
	kept    int // places and stacks

	DropReason, Location, Kstack scan.Str
}

func newDrops(in *engine.Input, c clock) *drops {
	f := &drops{clock: c}
	in.Bind(f)
	in.Use("skb_drop", "", f.row)
	return f
}

func (f *drops) row(r *engine.Row) {
	d := f.reasons.At(f.names.Get(r.Str(f.DropReason)))
	if d == nil {
		return
	}
	if d.n++; d.when == nil {
		// Reasons beyond these are not shown, and a file may have very many.
		if f.reasons.Len() > maxReasons {
			return
		}
		d.when, d.places, d.stacks = make([]Value, f.columns), map[string]int64{}, map[string]int64{}
	}
	d.when[f.at(r.TS)]++
	f.tally(d.places, r.Str(f.Location))
	f.tally(d.stacks, innermost(r.Str(f.Kstack)))
}

// tally counts a name, as long as there is room for new ones.
func (f *drops) tally(m map[string]int64, name string) {
	if _, known := m[name]; !known {
		if name == "" || f.kept >= maxKept {
			return
		}
		f.kept++
		name = strings.Clone(name)
	}
	m[name]++
}

// innermost is the part of a folded stack that the page shows.
func innermost(stack string) string {
	i := len(stack)
	for n := 0; n < shownFrames && i > 0; n++ {
		i = max(strings.LastIndexByte(stack[:i], ';'), 0)
	}
	stack = strings.TrimPrefix(stack[i:], ";")
	return stack[max(0, len(stack)-shownFrames*maxFrame):]
}

// Drop is a reason in the page.
type Drop struct {
	Label         string // of its recording, where there are several
	Reason, Place string
	Count         int64
	Percent       float64
	Stacks        []DropStack
}

// DropStack is a way through the kernel to a drop, innermost frame first.
type DropStack struct {
	Count  int64
	Frames []string
}

// list is what the page shows: most frequent reasons first, and their lines over time.
func (f *drops) list() (all []Drop, lines []Series, more int, total int64) {
	keys := f.reasons.Sorted(func(d *dropped) int64 { return -d.n }, cmp.Compare[string])
	for _, k := range keys {
		total += f.reasons.At(k).n
	}
	for i, k := range keys[:min(len(keys), shownReasons)] {
		d := f.reasons.At(k)
		v := Drop{Reason: k, Count: d.n, Percent: 100 * float64(d.n) / float64(total), Stacks: d.top()}
		if k == "" {
			v.Reason = "(no reason given)"
		}
		for place, n := range d.places {
			if m := d.places[v.Place]; n > m || n == m && place < v.Place {
				v.Place = place
			}
		}
		if all = append(all, v); i < reasonLines && d.when != nil {
			lines = append(lines, Series{safe(v.Reason), d.when})
		}
	}
	return all, lines, len(keys) - len(all), total
}

func (d *dropped) top() (best []DropStack) {
	for s, n := range d.stacks {
		frames := strings.Split(s, ";")
		slices.Reverse(frames)
		best = append(best, DropStack{n, frames})
	}
	slices.SortFunc(best, func(a, b DropStack) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), slices.Compare(a.Frames, b.Frames))
	})
	return best[:min(len(best), shownStacks)]
}
