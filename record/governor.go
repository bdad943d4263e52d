package record

import (
	"time"

	"netrec/schema"
)

// governEvery is how often shares are judged: a load that doubles is over the budget for no
// longer than that.
const governEvery = 200 * time.Millisecond

// How much of a budget is used. Above full, shares are halved at once, until no more than lowered
// of it is needed; they are doubled only one at a time, where that takes no more than raised and
// did so for a while.
const (
	full    = 0.9
	lowered = 0.8
	raised  = 0.7

	worth = 0.02 // a halving that saves less only takes connections from the answers
)

// Patience is how long there must have been room before a share is doubled. It doubles, too, when
// that turns out to have been too much soon after.
const (
	leastPatience = 3 * time.Second
	mostPatience  = time.Minute
)

// maxChanges is after how many changes shares are doubled no more: each is in the footer.
const maxChanges = 2000

// class indexes what is kept for each of schema.Classes.
type class int

const (
	conns class = iota
	packets
	classes
)

// load is what was seen in a stretch of time.
type load struct {
	wall     time.Duration
	recorder float64 // CPU time of the recorder, ns
	always   work    // of rows that are never left out
	hot      [classes]work
}

// work is rows and what else probes did.
type work struct {
	rows   float64
	ns     float64 // that probes took to make the rows
	passed float64 // runs of probes that made no row because of the share; of what is always recorded, none
}

// passedNS is how long such a run takes.
var passedNS = [classes]float64{conns: schema.PassedConnNS, packets: schema.PassedPacketNS}

// governor keeps probes and recorder together below a budget, by what it leaves out of hot
// events. It knows nothing but what it is told.
type governor struct {
	budget   float64 // ns of CPU time in a second of the host
	halved   [classes]uint32
	recorder rowCost
	calm     time.Duration // how long there has been room for more
	patience time.Duration
	sinceUp  time.Duration // since a share was doubled
	changes  int
	over     time.Duration // for how long it was too much, whatever the shares
}

// newGovernor takes the part of the CPU time that is allowed, and the time between two commits.
func newGovernor(part float64, cpus int, commit time.Duration) *governor {
	return &governor{budget: part * float64(cpus) * 1e9, recorder: newRowCost(commit), patience: leastPatience, sinceUp: mostPatience}
}

// step takes what happened since the last step, and reports whether shares have changed.
func (g *governor) step(l load) bool {
	if l.wall <= 0 {
		return false
	}
	g.recorder.note(l)
	g.sinceUp += l.wall
	before := g.halved
	need := g.need(l, g.halved)
	switch {
	case need > full*g.budget:
		g.lower(l, need)
	case g.changes < maxChanges:
		g.raise(l)
	}
	if g.halved != before {
		g.changes++
		return true
	}
	return false
}

// lower halves the share of what costs most, until the budget is kept.
func (g *governor) lower(l load, need float64) {
	g.calm = 0
	next := g.halved
	for need > lowered*g.budget {
		c, saved := g.costliest(l, next)
		if saved < worth*g.budget {
			break
		}
		next[c]++
		need -= saved
	}
	if next == g.halved { // what is left is the cost of rare rows, and of probes that run for nothing
		if need > g.budget {
			g.over += l.wall
		}
		return
	}
	if g.sinceUp < 2*g.patience {
		g.patience = min(2*g.patience, mostPatience)
	}
	g.halved = next
}

// raise doubles the share that is the smallest, once there has been room for that long enough.
func (g *governor) raise(l load) {
	next, c := g.halved, conns
	if g.halved[packets] > g.halved[conns] {
		c = packets
	}
	if next[c] == 0 {
		g.calm = 0
		return
	}
	next[c]--
	if g.need(l, next) > raised*g.budget {
		g.calm = 0
		return
	}
	if g.calm += l.wall; g.calm < g.patience {
		return
	}
	g.halved, g.calm, g.sinceUp = next, 0, 0
}

// costliest is the class whose next halving saves most, and how much.
func (g *governor) costliest(l load, at [classes]uint32) (best class, saved float64) {
	for c := range classes {
		if at[c] >= schema.MaxHalved {
			continue
		}
		next := at
		next[c]++
		if s := g.need(l, at) - g.need(l, next); s > saved {
			best, saved = c, s
		}
	}
	return best, saved
}

// need is what recording would take at other shares, ns in a second.
func (g *governor) need(l load, at [classes]uint32) float64 {
	rows, ns := l.always.rows, l.always.ns
	for c := range classes {
		w := &l.hot[c]
		all := w.rows + w.passed
		kept := min(all, w.rows*scale(g.halved[c])/scale(at[c]))
		if w.rows > 0 {
			ns += w.ns * kept / w.rows
		}
		ns += (all - kept) * passedNS[c]
		rows += kept
	}
	second := l.wall.Seconds()
	return g.recorder.at(rows/second) + ns/second
}

// scale is how many rows one stands for after some halvings.
func scale(halved uint32) float64 { return float64(uint64(1) << halved) }
