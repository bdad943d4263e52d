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
	count    int
	min, max int64
	table    intTable
	index    []int32 // with dict, once there are two distinct values
	values   []int64 // without dict
	int32s   []int32 // the same, for packing
}

func (c *number) reset() {
	c.dict, c.count = !c.grows, 0
	c.index, c.values = c.index[:0], c.values[:0]
	c.table.reset()
}

// add appends values; flip as in bounds.
func (c *number) add(v []int64, flip int64) {
	if len(v) == 0 {
		return
	}
	lo, hi := bounds(v, flip)
	if c.count == 0 {
		c.min, c.max = lo, hi
	} else {
		c.min, c.max = min(c.min^flip, lo^flip)^flip, max(c.max^flip, hi^flip)^flip
	}
	if c.dict {
		c.addDict(v, lo == hi)
	} else {
		c.values = append(c.values, v...)
	}
	c.count += len(v)
}

func (c *number) addDict(v []int64, same bool) {
	last := v[0]
	at, fresh := c.table.index(last)
	if distinct := len(c.table.keys); distinct == 2 && fresh || distinct == 1 && !same {
		c.index = append(c.index, make([]int32, c.count)...) // so far all were the first
	}
	if same {
		if len(c.table.keys) > 1 {
			c.index = appendSame(c.index, at, len(v))
		}
		return
	}
	n := len(c.index)
	c.index = slices.Grow(c.index, len(v))[:n+len(v)]
	out := c.index[n:]
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
	if len(c.table.keys) > maxDict {
		c.giveUp()
	}
}

// giveUp turns positions back into values.
func (c *number) giveUp() {
	c.dict = false
	for _, at := range c.index {
		c.values = append(c.values, c.table.keys[at])
	}
}

// choose decides how the values are written, now that all are known. A dictionary
// must save a quarter; differences must be small, or compression does better.
func (c *number) choose() format.Encoding {
	width, most := 8, 40
	if c.narrow {
		width, most = 4, 24
	}
	if distinct := len(c.table.keys); c.dict && distinct > 1 {
		if distinct*width+c.count*bits.Len(uint(distinct-1))/8 > c.count*width*3/4 {
			c.giveUp()
		}
	}
	switch {
	case c.dict:
		return format.RLEDictionary
	case c.count >= minDeltas && (c.grows || bits.Len64(uint64(c.max-c.min)) < most):
		return format.DeltaBinaryPacked
	}
	return format.Plain
}

func appendSame(dst []int32, at int32, n int) []int32 {
	l := len(dst)
	dst = slices.Grow(dst, n)[:l+n]
	for i := range dst[l:] {
		dst[l+i] = at
	}
	return dst
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
