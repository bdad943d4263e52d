package line

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netrec/analyze/engine"
)

// Outcomes counts results.
type Outcomes map[string]int64

// String lists them, most frequent first.
func (o Outcomes) String() string {
	names := slices.Collect(maps.Keys(o))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(o[b], o[a]), cmp.Compare(a, b)) })
	for i, n := range names {
		names[i] = engine.Thousands(o[n]) + " " + n
	}
	return strings.Join(names, ", ")
}

// PerSecond is n divided by the length of the recording or its selected part.
func PerSecond(in *engine.Input, n int64) string {
	ns := in.End() - in.Start()
	if ns <= 0 {
		return "?"
	}
	return fmt.Sprintf("%.1f", float64(n)*1e9/float64(ns))
}
