package scan

import (
	"math/bits"
	"slices"

	"netrec/schema"
)

// Bounds of the numbers that a file may say about itself and of the times of its rows. Within
// them analyses may add and subtract times and counts, and make lists of a size from the
// file, without asking themselves whether that overflows or ends the memory. Other columns
// of rows may hold anything; nothing takes them for an index, a size or a count of steps.
const (
	maxTime  = 1<<62 - 1 // ns since 1970, in the year 2116: the sum of two still fits
	maxCPUs  = 1 << 13   // CONFIG_NR_CPUS is at most that
	maxZone  = 26 * 3600 // s between a clock on a wall and UTC
	maxCount = 1 << 42   // events on one CPU; the sums over all of a list fit
	maxParts = 1 << 30   // files of a recording
)

// bound sets numbers to 0 that no recorder writes, and says which.
func (m *Meta) bound(p *problems) {
	within(p, schema.KeyHost, "cpus", &m.Host.CPUs, 0, maxCPUs)
	within(p, schema.KeyHost, "zone_offset_s", &m.Host.Offset, -maxZone, maxZone)
	for i := range m.Clock {
		a := &m.Clock[i]
		times(p, schema.KeyClock, &a.Mono, &a.Wall, &a.Jitter)
	}
	boundRecording(p, &m.Recording)
	boundBudget(p, m.Budget)
	for i := range m.Hooks {
		for j := range m.Hooks[i].CameNS {
			times(p, schema.KeyHooks, &m.Hooks[i].CameNS[j])
		}
	}
	for i := range m.Losses {
		c := &m.Losses[i]
		for _, n := range []*int64{&c.Generated, &c.Recorded, &c.Ring, &c.Scratch, &c.Writer, &c.Nested, &c.Calls, &c.Thinned} {
			within(p, schema.KeyLosses, "a count", n, 0, maxCount)
		}
	}
}

func boundRecording(p *problems, r *schema.Recording) {
	times(p, schema.KeyRecording, &r.StartNS, &r.AttachNS, &r.StopNS)
	if r.Part != nil {
		times(p, schema.KeyRecording, &r.Part.BeganNS)
		within(p, schema.KeyRecording, "the index of the part", &r.Part.Index, 0, maxParts)
	}
	for i := range r.Libraries {
		times(p, schema.KeyRecording, &r.Libraries[i].SinceNS)
	}
	for i := range r.Late {
		times(p, schema.KeyRecording, &r.Late[i].SinceNS)
	}
	for i := range r.Modules {
		times(p, schema.KeyRecording, &r.Modules[i].SinceNS)
	}
}

// boundBudget leaves out changes to shares that no recorder makes: they would scale answers.
func boundBudget(p *problems, b *schema.Budget) {
	if b == nil {
		return
	}
	times(p, schema.KeyBudget, &b.OverNS)
	seen := func(list []schema.Seen) {
		for i := range list {
			within(p, schema.KeyBudget, "a count", &list[i].Kept, 0, maxCount)
			within(p, schema.KeyBudget, "a count", &list[i].Left, 0, maxCount)
		}
	}
	seen(b.End)
	last := int64(0)
	b.Changes = slices.DeleteFunc(b.Changes, func(c schema.ShareChange) bool {
		bad := bits.OnesCount32(c.Of) != 1 || c.Of > 1<<schema.MaxHalved || c.SinceNS < last || c.SinceNS > maxTime
		if bad {
			p.add("metadata %s: a share of 1/%d at %d is impossible and was left out", schema.KeyBudget, c.Of, c.SinceNS)
		} else {
			last = c.SinceNS
			seen(c.Seen)
		}
		return bad
	})
}

func times(p *problems, key string, all ...*int64) {
	for _, t := range all {
		within(p, key, "a time", t, 0, maxTime)
	}
}

// within sets a number to 0 if it is beyond its bounds.
func within[T int | int64](p *problems, key, what string, v *T, low, high T) {
	if *v < low || *v > high {
		p.add("metadata %s: %s of %d is impossible and was left out", key, what, *v)
		*v = 0
	}
}
