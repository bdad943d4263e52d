package parquetfile

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// CheckPlaces checks that every column lies within [lo, hi) and that no two
// share bytes: shared ones would let a small file stand for any number of rows.
func CheckPlaces(groups iter.Seq2[int, *Group], lo, hi int64) error {
	n := 0
	for _, g := range groups {
		n += len(g.chunks)
	}
	type place struct{ off, end int64 }
	places := make([]place, 0, n)
	for i, g := range groups {
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
