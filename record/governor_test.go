package record

import (
	"math/rand/v2"
	"testing"
	"time"
)

// simHost simulates what a recording costs: rows come at a rate that shares thin, the recorder spends
// CPU time in lumps, when it commits, and no number is quite what the governor assumes.
type simHost struct {
	g       *governor
	rng     *rand.Rand
	rowNS   float64 // of the recorder
	hot     [classes]float64
	rare    float64 // rows a second
	waiting float64 // rows that the next commit encodes
	at      time.Duration
}

// second lets one second pass and returns what its events cost, now or when they are committed,
// as a part of the budget.
func (h *simHost) second() float64 {
	used := 0.0
	for range int(time.Second / governEvery) {
		s := governEvery.Seconds()
		l := load{wall: governEvery}
		l.always = work{rows: h.rare * s, ns: h.rare * s * 400}
		for c := range classes {
			all := h.hot[c] * s * (0.9 + 0.2*h.rng.Float64())
			kept := all / scale(h.g.halved[c])
			l.hot[c] = work{rows: kept, ns: kept * 300, passed: all - kept}
			used += kept*(300+h.rowNS) + (all-kept)*passedNS[c]
			h.waiting += kept
		}
		h.waiting += l.always.rows
		used += l.always.ns + l.always.rows*h.rowNS + 5e6*s
		l.recorder = 5e6 * s
		if h.at += governEvery; h.at%(800*time.Millisecond) == 0 {
			l.recorder += h.waiting * h.rowNS
			h.waiting = 0
		}
		h.g.step(l)
	}
	return used / h.g.budget
}

func simulate(budget, rowNS float64) *simHost {
	return &simHost{g: newGovernor(budget, 2, 750*time.Millisecond), rng: rand.New(rand.NewPCG(1, 2)), rowNS: rowNS}
}

// A load that doubles every five seconds stays within a quarter above the budget from the second
// second on, whatever a row costs the recorder.
func TestGovernorKeepsTheBudget(t *testing.T) {
	for _, rowNS := range []float64{150, 400, 1200} {
		h := simulate(0.02, rowNS)
		h.rare, h.hot = 500, [classes]float64{4000, 1000}
		for s := range 35 {
			if s > 0 && s%5 == 0 {
				for c := range classes {
					h.hot[c] *= 2
				}
			}
			part := h.second()
			if s > 0 && part > 1.25 {
				t.Errorf("row of %g ns, second %d: %.2f of the budget, halved %v", rowNS, s, part, h.g.halved)
			}
		}
		if h.g.halved[conns] == 0 || h.g.over > 0 {
			t.Errorf("row of %g ns: halved %v, over for %v", rowNS, h.g.halved, h.g.over)
		}
	}
}

// When the load is over, everything is recorded again, and steps up take their time.
func TestGovernorComesBack(t *testing.T) {
	h := simulate(0.02, 300)
	h.hot = [classes]float64{300_000, 50_000}
	for range 5 {
		h.second()
	}
	low := h.g.halved
	if low[conns] < 2 {
		t.Fatalf("halved %v under load", low)
	}
	h.hot = [classes]float64{2000, 300}
	h.second()
	h.second()
	if h.g.halved != low {
		t.Errorf("halved %v two seconds after the load, was %v", h.g.halved, low)
	}
	for range 120 {
		h.second()
	}
	if h.g.halved != [classes]uint32{} {
		t.Errorf("halved %v long after the load", h.g.halved)
	}
}

// A load at the edge between two shares does not make them swing: each swing takes longer than
// the one before.
func TestGovernorDoesNotSwing(t *testing.T) {
	h := simulate(0.02, 300)
	for h.hot = [classes]float64{20_000, 0}; h.hot[conns] < 400_000; h.hot[conns] *= 1.15 {
		before := h.g.changes
		for range 120 {
			h.second()
		}
		if n := h.g.changes - before; n > 12 {
			t.Errorf("%.0f rows a second: %d changes in two minutes", h.hot[conns], n)
		}
	}
}

// Where there are no hot events, there is nothing to thin.
func TestGovernorWithoutHotEvents(t *testing.T) {
	h := simulate(0.02, 1000)
	h.rare = 200_000
	for range 5 {
		h.second()
	}
	if h.g.over < 3*time.Second || h.g.changes > 0 {
		t.Errorf("over for %v, %d changes", h.g.over, h.g.changes)
	}
}

// Rare events alone may be too much; that is told, not hidden.
func TestGovernorTellsOfTooMuch(t *testing.T) {
	h := simulate(0.02, 1000)
	h.rare, h.hot = 200_000, [classes]float64{5000, 5000}
	for range 10 {
		h.second()
	}
	if h.g.over < 5*time.Second || h.g.halved[conns] < 2 || h.g.halved[packets] < 2 {
		t.Errorf("over for %v, halved %v", h.g.over, h.g.halved)
	}
}
