package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

var errRun = errors.New("run longer than the page")

// run is one run of the RLE/bit-packing hybrid, which stores levels and
// positions in dictionaries.
type run struct {
	n      int    // values, at most as many as were asked for
	value  uint32 // of every one, unless packed is set
	packed []byte // n values of the width, lowest bits first
}

// nextRun takes a run of at most max values off b.
func nextRun(b []byte, width, max int) (run, []byte, error) {
	h, k := binary.Uvarint(b)
	if k <= 0 {
		return run{}, nil, errCut
	}
	b = b[k:]
	count := h >> 1
	if h&1 == 0 {
		size := (width + 7) / 8
		switch {
		case count == 0 || count > uint64(max):
			return run{}, nil, errRun
		case size > len(b):
			return run{}, nil, errCut
		}
		var v uint32
		for i := size - 1; i >= 0; i-- {
			v = v<<8 | uint32(b[i])
		}
		return run{n: int(count), value: v}, b[size:], nil
	}
	// Groups of 8 values. DuckDB pads the last run to 32 values, others leave out
	// the bytes of the padding; only the values that are due must be there.
	if count == 0 || count > math.MaxInt32 {
		return run{}, nil, errRun
	}
	n := min(int(count)*8, max)
	if (n*width+7)/8 > len(b) {
		return run{}, nil, errCut
	}
	size := min(int(count)*width, len(b))
	return run{n: n, packed: b[:size:size]}, b[size:], nil
}

// hybrid decodes len(dst) numbers of the given width; every one must be below limit.
func hybrid(b []byte, width int, dst []int32, limit int) error {
	if width < 0 || width > 32 {
		return fmt.Errorf("width of %d bits", width)
	}
	for len(dst) > 0 {
		r, rest, err := nextRun(b, width, len(dst))
		if err != nil {
			return err
		}
		out := dst[:r.n]
		if r.packed == nil {
			if uint64(r.value) >= uint64(limit) {
				return fmt.Errorf("position %d in a dictionary of %d", r.value, limit)
			}
			for i := range out {
				out[i] = int32(r.value)
			}
		} else {
			unpack(out, r.packed, width)
			var top uint32
			for _, v := range out {
				top = max(top, uint32(v))
			}
			if uint64(top) >= uint64(limit) {
				return fmt.Errorf("position %d in a dictionary of %d", top, limit)
			}
		}
		dst, b = dst[r.n:], rest
	}
	return nil
}

// levels decodes definition levels of a flat optional column: true where there
// is a value. It returns how many values there are.
func levels(b []byte, dst []bool) (int, error) {
	values := 0
	for len(dst) > 0 {
		r, rest, err := nextRun(b, 1, len(dst))
		if err != nil {
			return 0, err
		}
		out := dst[:r.n]
		if r.packed == nil {
			if r.value > 1 {
				return 0, fmt.Errorf("level %d", r.value)
			}
			for i := range out {
				out[i] = r.value == 1
			}
			values += int(r.value) * r.n
		} else {
			for i := range out {
				bit := r.packed[i>>3] >> (i & 7) & 1
				out[i] = bit == 1
				values += int(bit)
			}
		}
		dst, b = dst[r.n:], rest
	}
	return values, nil
}

// unpack reads len(dst) numbers of width bits, lowest bits first. The caller has
// checked that b holds them.
func unpack[T int32 | int64](dst []T, b []byte, width int) {
	if width == 0 {
		clear(dst)
		return
	}
	mask := ^uint64(0) >> (64 - width)
	i, bit := 0, 0
	if width <= 56 { // a value and its offset in the first byte fit a word
		for ; i < len(dst) && bit>>3+8 <= len(b); i++ {
			dst[i] = T(binary.LittleEndian.Uint64(b[bit>>3:]) >> (bit & 7) & mask)
			bit += width
		}
	}
	for ; i < len(dst); i++ {
		var w [17]byte
		copy(w[:], b[bit>>3:])
		lo, hi := binary.LittleEndian.Uint64(w[:]), binary.LittleEndian.Uint64(w[8:])
		s := uint(bit & 7)
		dst[i] = T((lo>>s | hi<<1<<(63-s)) & mask)
		bit += width
	}
}
