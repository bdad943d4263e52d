package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// maxDeltaBlock bounds the values of a block; writers use 128 to 2,048.
const maxDeltaBlock = 1 << 16

// delta decodes len(dst) numbers of DELTA_BINARY_PACKED and returns what follows
// them. Sums wrap around, as the format has it.
func delta(b []byte, dst []int64) ([]byte, error) {
	var head [3]uint64 // values of a block, miniblocks of a block, values in all
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errCut
		}
		head[i], b = v, b[n:]
	}
	first, n := binary.Varint(b)
	if n <= 0 {
		return nil, errCut
	}
	b = b[n:]
	block, minis := head[0], head[1]
	if block == 0 || block > maxDeltaBlock || block%128 != 0 || minis == 0 || minis > block/32 || block%minis != 0 || block/minis%32 != 0 {
		return nil, fmt.Errorf("blocks of %d values in %d parts", block, minis)
	}
	if head[2] != uint64(len(dst)) {
		return nil, fmt.Errorf("%d values where the page has %d", head[2], len(dst))
	}
	if len(dst) == 0 {
		return b, nil
	}
	dst[0] = first
	d := deltaBlocks{b: b, last: first, perMini: int(block / minis), minis: int(minis)}
	for rest := dst[1:]; len(rest) > 0; {
		n, err := d.block(rest)
		if err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	return d.b, nil
}

type deltaBlocks struct {
	b              []byte
	last           int64
	perMini, minis int
}

// block decodes up to one block into dst.
func (d *deltaBlocks) block(dst []int64) (int, error) {
	least, n := binary.Varint(d.b)
	if n <= 0 || d.minis > len(d.b)-n {
		return 0, errCut
	}
	widths := d.b[n : n+d.minis]
	d.b = d.b[n+d.minis:]
	done := 0
	for _, w := range widths {
		out := dst[done:min(done+d.perMini, len(dst))]
		if len(out) == 0 {
			break // parts beyond the last value have no bytes
		}
		if w > 64 {
			return 0, errors.New("width over 64 bits")
		}
		size := d.perMini * int(w) / 8
		if size > len(d.b) {
			// The last part may be cut to the values it holds.
			if size = (len(out)*int(w) + 7) / 8; size > len(d.b) {
				return 0, errCut
			}
			size = len(d.b)
		}
		unpack(out, d.b[:size:size], int(w))
		last := d.last
		for i, v := range out {
			last += v + least
			out[i] = last
		}
		d.last = last
		d.b = d.b[size:]
		done += len(out)
	}
	return done, nil
}
