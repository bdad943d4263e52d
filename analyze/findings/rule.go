package findings

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

// Level is how bad a finding is. The worst is the greatest.
type Level uint8

// Levels.
const (
	Note Level = iota // worth knowing
	Slow              // something waited
	Bad               // something was lost, refused or failed
)

func (l Level) String() string { return [...]string{"note", "slow", "bad"}[l] }

// Rule is one thing that may be wrong.
type Rule struct {
	Name    string
	About   string   // what the threshold counts or measures, as a noun
	Default float64  // threshold, in Unit
	Unit    Unit     // of the threshold
	Any     []string // events of which one suffices to judge; none if the metadata does

	// New starts to watch a recording. limit is the threshold in use. The fold it returns
	// is called after the last row, and adds to the shelf what it found.
	New func(in *engine.Input, limit float64, found *Shelf) (judge func())
}

// Rules are all rules, by name.
var Rules = []*Rule{&drops, &failedConnects, &lostEvents, &nagleStall, &queueBloat, &receiveBuffer, &retransmitBurst, &slowDNS, &synBacklog, &zeroWindow}

// Finding is one thing that looks wrong.
type Finding struct {
	Rule      *Rule
	Threshold string // in use, as --threshold takes it
	Level     Level
	Over      float64 // how many times the threshold
	What      string
	Evidence  string
	Next      string     // arguments of analyze that show more, after the file
	Sock      agg.Socket // the socket it is about; its address is 0 if it is about none
	At        int64      // ts_ns where it began or was worst, 0 if that is not known
}

// MostOfRule is how many findings of one rule are kept: more of the same kind hide others.
const MostOfRule = 3

// Shelf keeps the worst findings of a rule, and counts all.
type Shelf struct {
	worst  *agg.Greatest[Finding]
	levels [Bad + 1]int64
}

func newShelf(room int) *Shelf { return &Shelf{worst: agg.NewGreatest(room, worse)} }

// Add offers a finding.
func (s *Shelf) Add(f Finding) {
	s.worst.Add(f)
	s.levels[f.Level]++
}
