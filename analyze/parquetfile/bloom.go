package parquetfile

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
)

// maxBloom bounds a filter; the format's own limit.
const maxBloom = 128 << 20

// FilterHas reads from the split block filter at off whether v may be among its
// values. Only the header and one block are read, within [off, end).
func FilterHas(f io.ReaderAt, off, end int64, v uint64) (bool, error) {
	var buf [64]byte
	n, err := f.ReadAt(buf[:min(int64(len(buf)), end-off)], off)
	if err != nil && err != io.EOF {
		return false, err
	}
	r := &thrift{b: buf[:n]}
	size := parseBloomHeader(r)
	off += int64(r.pos)
	switch {
	case r.err != nil:
		return false, r.err
	case size <= 0 || size > maxBloom || size%32 != 0 || int64(size) > end-off:
		return false, errors.New("filter larger than its place")
	}
	h := hash8(v)
	block := int64((h >> 32) * uint64(size/32) >> 32)
	var words [32]byte
	if _, err := f.ReadAt(words[:], off+32*block); err != nil {
		return false, err
	}
	for i, salt := range bloomSalt {
		bit := uint32(h) * salt >> 27
		if binary.LittleEndian.Uint32(words[4*i:])>>bit&1 == 0 {
			return false, nil
		}
	}
	return true, nil
}

var bloomSalt = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// parseBloomHeader returns the size of the bits. Algorithm, hash and compression
// are unions with one member each, so far.
func parseBloomHeader(r *thrift) int32 {
	var size int32
	known := 0
	for id, t := range r.fields() {
		switch id {
		case 1:
			size = r.i32(t)
		case 2, 3, 4:
			if !r.want(t, tStruct) {
				return 0
			}
			var inner int16
			if member, t := r.field(&inner); member == 1 {
				known++
				r.skip(t, 0)
				r.skip(tStruct, 0) // the rest of the union
			}
		default:
			r.skip(t, 0)
		}
	}
	if r.err == nil && known != 3 {
		r.fail(errors.New("filter of another kind"))
	}
	return size
}

// hash8 is XXH64, seed 0, of the 8 bytes of v.
func hash8(v uint64) uint64 {
	const (
		p1 = 0x9e3779b185ebca87
		p2 = 0xc2b2ae3d27d4eb4f
		p3 = 0x165667b19e3779f9
		p4 = 0x85ebca77c2b2ae63
		p5 = 0x27d4eb2f165667c5
	)
	h := uint64(p5) + 8
	h ^= bits.RotateLeft64(v*p2, 31) * p1
	h = bits.RotateLeft64(h, 27)*p1 + p4
	h = (h ^ h>>33) * p2
	h = (h ^ h>>29) * p3
	return h ^ h>>32
}
