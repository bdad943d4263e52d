package encode

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

const (
	// maxDict is how many distinct values a dictionary of numbers may have; beyond,
	// its table no longer fits into the cache.
	maxDict = 8192
	// minDeltas is how many values DELTA_BINARY_PACKED needs to be shorter than
	// PLAIN: its unit is a block of 32.
	minDeltas = 33
)

// number collects the values, without NULLs, of a column of numbers. It tries a
// dictionary first; positions and differences are packed at a fraction of what
// compressing plain values costs.
type number struct {
	narrow bool // INT32
	grows  bool // no dictionary: almost every value is new

	dict     bool
	min, max int64
	table    intTable
	at       positions // with dict
	values   []int64   // without dict
	int32s   []int32   // the same, for packing
}

func (c *number) reset() {
	c.dict = !c.grows
	c.values = c.values[:0]
	c.at.reset()
	c.table.reset()
}

// add appends values; flip as in bounds.
func (c *number) add(v []int64, flip int64) {
	if len(v) == 0 {
		return
	}
	switch lo, hi := bounds(v, flip); {
	case lo == hi:
		c.addSame(lo, len(v), flip)
	case c.dict:
		c.widen(lo, hi, flip)
		c.addDict(v)
	default:
		c.widen(lo, hi, flip)
		c.values = append(c.values, v...)
	}
}

// addSame appends a value n times.
func (c *number) addSame(x int64, n int, flip int64) {
	c.widen(x, x, flip)
	if !c.dict {
		c.values = slices.Grow(c.values, n)
		for range n {
			c.values = append(c.values, x)
		}
		return
	}
	at, _ := c.table.index(x)
	c.at.addSame(at, n)
	c.mayGiveUp()
}

// widen takes the extremes of further values into those of all.
func (c *number) widen(lo, hi, flip int64) {
	if c.count() == 0 {
		c.min, c.max = lo, hi
	} else {
		c.min, c.max = min(c.min^flip, lo^flip)^flip, max(c.max^flip, hi^flip)^flip
	}
}

// count is how many values there are.
func (c *number) count() int {
	if c.dict {
		return c.at.n
	}
	return len(c.values)
}

func (c *number) addDict(v []int64) {
	last, out := v[0], c.at.room(len(v))
	at, _ := c.table.index(last)
	for i, x := range v {
		if x != last {
			last = x
			var known bool
			if at, known = c.table.seen(x); !known {
				at, _ = c.table.index(x)
			}
		}
		out[i] = at
	}
	c.mayGiveUp()
}

func (c *number) mayGiveUp() {
	if len(c.table.keys) > maxDict {
		c.giveUp()
	}
}

// giveUp turns positions back into values.
func (c *number) giveUp() {
	c.dict = false
	c.at.each(func(at int32) { c.values = append(c.values, c.table.keys[at]) })
}

// choose decides how the values are written, now that all are known. A dictionary
// must save a quarter; differences must be small, or compression does better.
func (c *number) choose() format.Encoding {
	width, most, count := 8, 40, c.count()
	if c.narrow {
		width, most = 4, 24
	}
	if distinct := len(c.table.keys); c.dict && distinct > 1 {
		if distinct*width+count*bits.Len(uint(distinct-1))/8 > count*width*3/4 {
			c.giveUp()
		}
	}
	switch {
	case c.dict:
		return format.RLEDictionary
	case count >= minDeltas && (c.grows || bits.Len64(uint64(c.max-c.min)) < most):
		return format.DeltaBinaryPacked
	}
	return format.Plain
}

// appendPlain adds numbers in Parquet's PLAIN encoding.
func appendPlain(dst []byte, v []int64, narrow bool) []byte {
	n := len(dst)
	if narrow {
		dst = slices.Grow(dst, 4*len(v))[:n+4*len(v)]
		for i, x := range v {
			binary.LittleEndian.PutUint32(dst[n+4*i:], uint32(x))
		}
		return dst
	}
	dst = slices.Grow(dst, 8*len(v))[:n+8*len(v)]
	for i, x := range v {
		binary.LittleEndian.PutUint64(dst[n+8*i:], uint64(x))
	}
	return dst
}
