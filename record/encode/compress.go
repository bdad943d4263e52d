package encode

import (
	"encoding/binary"

	"netrec/schema"
)

// The file's only codec is zstd: a reader may take the codec of a column's first
// chunk for that of all, as parquet-go does. What does not shrink is stored in a
// zstd frame without compression, which readers unpack at the speed of a copy.

// Many pages shrink little or not at all: times, sequence numbers, positions without a pattern.
// On busy servers half of what compression costs went into pages that got shorter by less than
// three tenths, half a byte of a row. In a hurry that a page is like this is believed for
// some row groups of the same event.
const (
	worthwhile = 0.7 // of a page's length
	dullFor    = 15
)

// dull counts for how many more row groups the pages of each column are stored as they are, and
// its numbers do without a dictionary, which had been given up, or are plain.
type dull struct {
	dict, data, spread []uint8
	trials             []trial
}

func newDull() dull {
	counts := func() []uint8 { return make([]uint8, len(schema.Columns)) }
	return dull{counts(), counts(), counts(), make([]trial, len(schema.Columns))}
}

const (
	// minCompress is the length in bytes below which compression is not tried.
	minCompress = 96
	// history is how far back a page repeats itself, in bytes. The library keeps twice as much in
	// memory; by default that is 8 MiB, from the first page of more than a block on.
	history = 256 << 10
	// storedBlock is the longest block of a zstd frame.
	storedBlock = 128 << 10
)

// compress appends the zstd frame of a page. dull is what is known of pages like it.
func (e *Encoder) compress(dst, page []byte, dull *uint8) []byte {
	if e.Hurry && *dull > 0 {
		*dull--
	} else if len(page) >= minCompress {
		start := len(dst)
		dst = e.zstd.EncodeAll(page, dst)
		size := len(dst) - start
		if float64(size) > worthwhile*float64(len(page)) {
			*dull = dullFor
		}
		if size < len(page)-len(page)/16 {
			return dst
		}
		dst = dst[:start]
	}
	return appendStored(dst, page)
}

// appendStored appends a zstd frame of raw blocks.
func appendStored(dst, page []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, 0xfd2fb528)
	const singleSegment = 1 << 5
	switch n := len(page); { // the size of the content, in the shortest field that holds it
	case n < 256:
		dst = append(dst, singleSegment, byte(n))
	case n < 256+1<<16:
		dst = binary.LittleEndian.AppendUint16(append(dst, singleSegment|1<<6), uint16(n-256))
	default:
		dst = binary.LittleEndian.AppendUint32(append(dst, singleSegment|2<<6), uint32(n))
	}
	for {
		n, last := min(len(page), storedBlock), 0
		if n == len(page) {
			last = 1
		}
		h := n<<3 | last
		dst = append(append(dst, byte(h), byte(h>>8), byte(h>>16)), page[:n]...)
		if page = page[n:]; last == 1 {
			return dst
		}
	}
}
