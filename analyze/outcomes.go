package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netrec/analyze/engine"
)

// outcomes counts results.
type outcomes map[string]int64

// String lists them, most frequent first.
func (o outcomes) String() string {
	names := slices.Collect(maps.Keys(o))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(o[b], o[a]), cmp.Compare(a, b)) })
	for i, n := range names {
		names[i] = engine.Thousands(o[n]) + " " + n
	}
	return strings.Join(names, ", ")
}

// perSecond is n divided by the length of the recording or its selected part.
func perSecond(in *engine.Input, n int64) string {
	ns := in.End() - in.Start()
	if ns <= 0 {
		return "?"
	}
	return fmt.Sprintf("%.1f", float64(n)*1e9/float64(ns))
}
