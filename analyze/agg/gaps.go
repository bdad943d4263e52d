package agg

import (
	"cmp"
	"slices"
	"sort"
)

// maxGaps bounds how many gaps are told apart. Beyond that, those next to each other are one.
const maxGaps = 1 << 20

// Gaps are the times in which rows may be missing because they were lost. What is joined
// across one may belong to two: an address, a descriptor or a number can have been given
// back and used again unseen. A nil Gaps has none.
type Gaps struct {
	spans []gap // in order and apart from each other, once settled
	at    int   // where the last question was answered: questions come in the order of time
	near  int64 // spans that are closer are joined

	// Thinned reports whether rows of a socket may have been left out on purpose between two
	// moments; nil for none.
	Thinned func(s *Socket, after, until int64) bool
}

type gap struct{ from, to int64 }

// Add notes that rows between two moments may be missing. Settle ends the noting.
func (g *Gaps) Add(from, to int64) {
	if g.spans = append(g.spans, gap{from, to}); len(g.spans) < maxGaps {
		return
	}
	for g.Settle(); len(g.spans) > maxGaps/2; g.Settle() {
		g.near = max(1000, 2*g.near)
	}
}

// Settle puts the gaps in order and joins those that overlap.
func (g *Gaps) Settle() {
	slices.SortFunc(g.spans, func(a, b gap) int { return cmp.Compare(a.from, b.from) })
	n := 0
	for _, s := range g.spans {
		if n > 0 && s.from <= g.spans[n-1].to+g.near {
			g.spans[n-1].to = max(g.spans[n-1].to, s.to)
			continue
		}
		g.spans[n] = s
		n++
	}
	g.spans, g.at = g.spans[:n], 0
}

// Any reports whether there is a gap at all.
func (g *Gaps) Any() bool { return g != nil && len(g.spans) > 0 }

// Last is the latest moment, now at most, at which a row may be missing; 0 if there is none.
func (g *Gaps) Last(now int64) int64 {
	if !g.Any() {
		return 0
	}
	if !g.holds(g.at, now) {
		if g.at++; !g.holds(g.at, now) {
			g.at = sort.Search(len(g.spans), func(i int) bool { return g.spans[i].from > now })
		}
	}
	if g.at == 0 {
		return 0
	}
	return min(now, g.spans[g.at-1].to)
}

// holds reports whether exactly the first n gaps began until now.
func (g *Gaps) holds(n int, now int64) bool {
	return n <= len(g.spans) && (n == 0 || g.spans[n-1].from <= now) && (n == len(g.spans) || g.spans[n].from > now)
}

// Of is Between for rows of one socket, which may also have been left out on purpose.
func (g *Gaps) Of(s *Socket, after, until int64) bool {
	return g.Between(after, until) || g != nil && g.Thinned != nil && g.Thinned(s, after, until)
}

// Between reports whether a row may be missing after one moment and until another.
func (g *Gaps) Between(after, until int64) bool { return g.Any() && g.Last(until) > after }
