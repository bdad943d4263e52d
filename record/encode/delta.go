package encode

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// deltaBlock is how many differences the library packs together.
const deltaBlock = 128

// appendDeltas appends the values in DELTA_BINARY_PACKED.
//
// The library takes the missing values of the last block for zeros and packs the
// fall to them, which costs up to 1 KiB. So the block is filled with values that
// change by its smallest difference, which take no bits, and the number of values
// is corrected afterwards.
func (p *pageBuffers) appendDeltas(c *number) error {
	var err error
	count := len(c.values)
	if c.narrow {
		c.int32s = slices.Grow(c.int32s[:0], len(c.values)+deltaBlock)
		for _, x := range c.values {
			c.int32s = append(c.int32s, int32(x))
		}
		c.int32s = fillBlock(c.int32s)
		p.packed, err = p.deltas.EncodeInt32(p.packed, c.int32s)
	} else {
		c.values = fillBlock(c.values)
		p.packed, err = p.deltas.EncodeInt64(p.packed, c.values)
		c.values = c.values[:count]
	}
	if err != nil {
		return err
	}
	var start [4]int // of block size, parts of a block, number of values, first value
	at := 0
	for i := range start {
		start[i] = at
		_, n := binary.Uvarint(p.packed[at:])
		if n <= 0 {
			return fmt.Errorf("packing %d differences: header cut off", count)
		}
		at += n
	}
	p.data = append(p.data, p.packed[:start[2]]...)
	p.data = binary.AppendUvarint(p.data, uint64(count))
	p.data = append(p.data, p.packed[start[3]:]...)
	return nil
}

// fillBlock extends v so that its differences are whole blocks.
func fillBlock[T int32 | int64](v []T) []T {
	n := len(v)
	tail := (n - 1) % deltaBlock
	if n < 2 || tail == 0 {
		return v
	}
	least := v[n-1] - v[n-2]
	for i := n - tail; i < n; i++ {
		least = min(least, v[i]-v[i-1])
	}
	last := v[n-1]
	for range deltaBlock - tail {
		last += least
		v = append(v, last)
	}
	return v
}
