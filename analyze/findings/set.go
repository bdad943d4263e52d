package findings

import (
	"cmp"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/schema"
)

// Set is all rules at work on one recording.
type Set struct {
	in     *engine.Input
	judges []judging
	room   int // how many findings of a rule are shown
	flows  flows
}

// judging is one rule at work.
type judging struct {
	rule  *Rule
	limit float64
	found *Shelf
	judge func() // nil if the recording has nothing to judge by
}

// New starts all rules. thresholds are RULE=VALUE, separated by commas, that
// CheckThreshold has accepted; room is how many findings of a rule are kept.
//
// Every event is read, whoever shows the findings: any row may say who a socket is, and a
// finding has the same evidence everywhere.
func New(in *engine.Input, thresholds string, room int) *Set {
	limits := map[*Rule]float64{}
	for _, t := range strings.Split(thresholds, ",") {
		if r, v, err := parseThreshold(t); err == nil {
			limits[r] = v
		}
	}
	s := &Set{in: in, room: room, flows: flows{in: in}}
	in.Always()
	in.Sockets("")
	for i := range schema.Events {
		if e := &schema.Events[i]; !e.Own() {
			in.Use(e.Name, "", nil)
		}
	}
	for _, r := range Rules {
		j := judging{rule: r, limit: r.Default, found: &Shelf{flows: &s.flows}}
		if v, ok := limits[r]; ok {
			j.limit = v
		}
		// All rules declare what they read, so that help can say it.
		if judge := r.New(in, j.limit, j.found); r.able(in) {
			j.judge = judge
		}
		s.judges = append(s.judges, j)
	}
	return s
}

func (r *Rule) able(in *engine.Input) bool {
	return len(r.Any) == 0 || slices.ContainsFunc(r.Any, in.Recorded) || slices.ContainsFunc(r.Counters, func(name string) bool { return counted(in, name) })
}

// Suspects reports whether a finding so far is about this life of a socket. At its end,
// rules have judged before others that came after them hear of it.
func (s *Set) Suspects(k *agg.Socket) bool {
	return k.Addr != 0 && slices.ContainsFunc(s.judges, func(j judging) bool { return j.found.suspects[k.Serial] })
}

// Verdict is what all rules together say.
type Verdict struct {
	Findings []Finding      // the worst first
	Judged   int            // rules that could judge
	Blind    []string       // rules that could not, each with the events that it lacks
	More     int64          // findings of the same rules that are left out
	Levels   [Bad + 1]int64 // how many there are of each level, with those left out
}

// All is how many findings there are, with those left out.
func (v *Verdict) All() int64 { return int64(len(v.Findings)) + v.More }

// Judge ranks what was found. It is called after the last row.
func (s *Set) Judge() Verdict {
	var v Verdict
	var all []Finding
	for _, j := range s.judges {
		if j.judge == nil {
			v.Blind = append(v.Blind, j.rule.Name+" (no "+strings.Join(j.rule.Any, ", ")+")")
			continue
		}
		v.Judged++
		j.judge()
		for _, f := range j.found.sorted() {
			f.Rule, f.Threshold = j.rule, j.rule.Name+"="+j.rule.Unit.format(j.limit)
			all = append(all, f)
		}
	}
	v.take(explained(all), s.room)
	return v
}

// take ranks findings and keeps so many of each rule.
func (v *Verdict) take(all []Finding, room int) {
	slices.SortStableFunc(all, worse)
	shown := map[*Rule]int{}
	for _, f := range all {
		v.Levels[f.Level]++
		if shown[f.Rule]++; shown[f.Rule] > room {
			v.More++
			continue
		}
		v.Findings = append(v.Findings, f)
	}
}

// worse orders findings: by level, then by how far they are beyond their threshold. No two are
// equal, so that the order is the same every time.
func worse(a, b Finding) int {
	return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(b.Over, a.Over), cmp.Compare(a.At, b.At), cmp.Compare(a.What, b.What),
		cmp.Compare(a.Threshold, b.Threshold), cmp.Compare(a.Sock.Serial, b.Sock.Serial), cmp.Compare(a.Sock.Addr, b.Sock.Addr), cmp.Compare(a.Evidence, b.Evidence), cmp.Compare(a.Next, b.Next))
}
