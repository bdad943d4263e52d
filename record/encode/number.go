package encode

import (
	"encoding/binary"
	"slices"
)

// Ways in which a column of numbers is written.
type mode uint8

const (
	asDict  mode = iota // few distinct values: their positions in a dictionary
	asPlain             // the values
	asDelta             // differences; for what mostly grows
)

// When a dictionary is given up: it is full, or after trialValues more than half
// of the values were new.
const (
	maxDict     = 4096
	trialValues = 2048
)

// number collects the values, without NULLs, of a column of numbers.
type number struct {
	narrow bool // INT32
	delta  bool // DELTA_BINARY_PACKED where there are enough values

	mode     mode
	count    int
	min, max int64
	table    intTable
	index    []int32 // asDict with at least two distinct values
	plain    []byte  // asPlain
	values   []int64 // asDelta
}

func (c *number) reset() {
	c.mode, c.count = asDict, 0
	if c.delta {
		c.mode = asDelta
	}
	c.index, c.plain, c.values = c.index[:0], c.plain[:0], c.values[:0]
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
	switch c.mode {
	case asDelta:
		c.values = append(c.values, v...)
	case asPlain:
		c.plain = appendPlain(c.plain, v, c.narrow)
	default:
		c.addDict(v, lo == hi)
	}
	c.count += len(v)
}

func (c *number) addDict(v []int64, same bool) {
	last, at := v[0], int32(0)
	at, fresh := c.table.index(last)
	if fresh && len(c.table.keys) == 2 {
		c.index = append(c.index, make([]int32, c.count)...)
	}
	if same {
		if len(c.table.keys) > 1 {
			c.index = appendSame(c.index, at, len(v))
		}
		return
	}
	if len(c.table.keys) == 1 {
		c.index = append(c.index, make([]int32, c.count)...)
	}
	n := len(c.index)
	c.index = slices.Grow(c.index, len(v))[:n+len(v)]
	out := c.index[n:]
	for i, x := range v {
		if x != last {
			last = x
			at, _ = c.table.index(x)
		}
		out[i] = at
	}
	if d := len(c.table.keys); d > maxDict || len(c.index) >= trialValues && 2*d > len(c.index) {
		c.giveUp()
	}
}

// giveUp turns the dictionary back into plain values.
func (c *number) giveUp() {
	c.mode = asPlain
	keys := c.table.keys
	if c.narrow {
		for _, at := range c.index {
			c.plain = binary.LittleEndian.AppendUint32(c.plain, uint32(keys[at]))
		}
		return
	}
	for _, at := range c.index {
		c.plain = binary.LittleEndian.AppendUint64(c.plain, uint64(keys[at]))
	}
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
