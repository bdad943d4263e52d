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
	// minSpread is how many values tell whether those of the next row groups will repeat, and
	// maxRepeat how often they may, on average, where a dictionary is done without.
	minSpread, maxRepeat = 512, 32
)

// number collects the values, without NULLs, of a column of numbers. It tries a
// dictionary first; positions and differences are packed at a fraction of what
// compressing plain values costs.
type number struct {
	narrow bool  // INT32
	grows  bool  // no dictionary: almost every value is new
	flip   int64 // sign bit where the order of values is unsigned

	dict     bool
	min, max int64
	table    intTable
	at       positions // with dict
	values   []int64   // without dict
	int32s   []int32   // the same, for packing
}

// reset forgets the values. Those of a column that is spread are too many for a dictionary.
func (c *number) reset(spread bool) {
	c.dict = !c.grows && !spread
	c.values = c.values[:0]
	c.at.reset()
	c.table.reset()
}

// add appends values.
func (c *number) add(v []int64) {
	if len(v) == 0 {
		return
	}
	if c.dict {
		c.addDict(v)
		return
	}
	lo, hi := bounds(v, c.flip)
	c.widen(lo, hi)
	c.values = append(c.values, v...)
}

// addSame appends a value n times.
func (c *number) addSame(x int64, n int) {
	if !c.dict {
		c.widen(x, x)
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

// widen takes the extremes of further values into those of all; with a dictionary they are its own.
func (c *number) widen(lo, hi int64) {
	if len(c.values) == 0 {
		c.min, c.max = lo, hi
	} else {
		c.min, c.max = bounds([]int64{c.min, c.max, lo, hi}, c.flip)
	}
}

// count is how many values there are.
func (c *number) count() int {
	if c.dict {
		return c.at.n
	}
	return len(c.values)
}

// addDict asks the table for every value, also for one that repeats: that is quicker than a
// comparison with the last one, whose outcome the processor cannot foresee.
func (c *number) addDict(v []int64) {
	out := c.at.room(len(v))
	_, _ = c.table.index(v[0])
	for i, x := range v {
		at, known := c.table.seen(x)
		if !known {
			at, _ = c.table.index(x)
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
	c.min, c.max = c.extremes()
	c.dict = false
	c.at.each(func(at int32) { c.values = append(c.values, c.table.keys[at]) })
}

// extremes are the smallest and the largest value; there must be one.
func (c *number) extremes() (lo, hi int64) {
	if c.dict {
		return bounds(c.table.keys, c.flip)
	}
	return c.min, c.max
}

// choose decides what the extremes are and how the values are written, now that all are known. A dictionary
// must save a quarter; differences must be small, or compression does better.
func (c *number) choose() format.Encoding {
	c.min, c.max = c.extremes()
	width, most, count := 8, 40, c.count()
	if c.narrow {
		width, most = 4, 24
	}
	if c.dict && len(c.table.keys) > 1 && c.dictBytes() > count*width*3/4 {
		c.giveUp()
	}
	switch {
	case c.dict:
		return format.RLEDictionary
	case count >= minDeltas && (c.grows || bits.Len64(uint64(c.max-c.min)) < most):
		return format.DeltaBinaryPacked
	}
	return format.Plain
}

// noteSpread remembers for some row groups that a dictionary was of no use: it was given up, or
// differences would have been about as short.
func (c *number) noteSpread(spread *uint8) {
	distinct, count := len(c.table.keys), c.count()
	switch {
	case *spread > 0:
		*spread--
	case count < minSpread || distinct < count/maxRepeat:
	case !c.dict || count*(1+bits.Len64(uint64(c.max-c.min)))/8 < c.dictBytes()*9/8:
		*spread = dullFor
	}
}

// dictBytes is how long the values are by a dictionary.
func (c *number) dictBytes() int {
	width, distinct := 8, len(c.table.keys)
	if c.narrow {
		width = 4
	}
	return distinct*width + c.count()*bits.Len(uint(distinct-1))/8
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
