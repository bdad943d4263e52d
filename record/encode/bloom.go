package encode

import (
	"math/bits"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/bloom/xxhash"
)

type bloomBuffers struct {
	hashes []uint64
	seen   []uint64
	filter []byte
	header compact
}

// appendBloom adds the split block bloom filter of a column, unless it holds
// nothing but 0, which nobody looks up.
func (e *Encoder) appendBloom(dst []byte, off int64, c *column) []byte {
	num, b := &c.number, &e.bloom
	if num.max == 0 {
		return dst
	}
	b.hashes = b.hashes[:0]
	distinct := len(num.table.keys)
	if num.dict {
		for _, k := range num.table.keys {
			b.hashes = append(b.hashes, xxhash.Sum64Uint64(uint64(k)))
		}
	} else {
		for _, v := range num.values {
			b.hashes = append(b.hashes, xxhash.Sum64Uint64(uint64(v)))
		}
		distinct = b.count()
	}
	size := filterSize(distinct)
	if cap(b.filter) < size {
		b.filter = make([]byte, size)
	}
	b.filter = b.filter[:size]
	clear(b.filter)
	bloom.MakeSplitBlockFilter(b.filter).InsertBulk(b.hashes)

	h := &b.header
	h.buf = h.buf[:0]
	h.open()
	h.i32(1, int32(size))
	for id := 2; id <= 4; id++ { // algorithm, hash, compression: the first of each
		h.begin(id)
		h.begin(1)
		h.end()
		h.end()
	}
	h.end()
	c.chunk.bloom, c.chunk.bloomLen = off+int64(len(dst)), int32(len(h.buf)+size)
	return append(append(dst, h.buf...), b.filter...)
}

// filterSize is the length in bytes of a filter for n distinct values: a power of
// two, which some readers insist on, with 8 to 16 bits per value.
func filterSize(n int) int {
	return max(bloom.BlockSize, 1<<bits.Len(uint(n-1)))
}

// count estimates how many of the hashes are distinct, a few percent low: the
// number of bits they set in a field of at least eight times as many.
func (b *bloomBuffers) count() int {
	words := 1 << bits.Len(uint(len(b.hashes)/8))
	if cap(b.seen) < words {
		b.seen = make([]uint64, words)
	}
	b.seen = b.seen[:words]
	clear(b.seen)
	for _, h := range b.hashes {
		h >>= 20 // the filter's blocks take the highest bits
		b.seen[(h>>6)&uint64(words-1)] |= 1 << (h & 63)
	}
	n := 0
	for _, w := range b.seen {
		n += bits.OnesCount64(w)
	}
	return n
}
