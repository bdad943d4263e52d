package parquetfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// CheckPlaces checks that every column lies within [lo, hi) and that no two
// share bytes: shared ones would let a small file stand for any number of rows.
// What a caller keeps of a row group may be more than the Group that it is of.
func CheckPlaces[G any](groups []G, of func(*G) *Group, lo, hi int64) error {
	n := 0
	for i := range groups {
		n += len(of(&groups[i]).chunks)
	}
	type place struct{ off, end int64 }
	places := make([]place, 0, n)
	for i := range groups {
		g := of(&groups[i])
		for _, c := range g.chunks {
			end := c.off + int64(c.size)
			if c.off < lo || end > hi || end < c.off {
				return fmt.Errorf("row group %d: column %s is outside of the data", i, g.leaves[c.leaf].Name)
			}
			places = append(places, place{c.off, end})
		}
		if g.Filter != 0 && (g.Filter < lo || g.Filter >= hi) {
			return fmt.Errorf("row group %d: filter is outside of the data", i)
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.off, b.off) })
	for i := 1; i < len(places); i++ {
		if places[i].off < places[i-1].end {
			return errors.New("columns share bytes")
		}
	}
	return nil
}
