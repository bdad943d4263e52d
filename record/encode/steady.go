package encode

import (
	"math"
	"unsafe"

	"netrec/schema"
)

// Most fields are the same in all rows of a block: the namespace, the addresses of a server, the
// kind of socket. So the rows are compared first, word by word in the order in which they lie in
// memory, and a field in which none differs is looked at once.

const word = 8 // bytes

// steady finds the bits in which the rows of the block differ, by word of the record.
func (e *Encoder) steady(words int) []uint64 {
	diff, first := e.diff[:words], unsafe.Slice((*uint64)(unsafe.Pointer(e.rows[0])), words)
	clear(diff)
	rows := e.rows[1:]
	for ; len(rows) >= 4; rows = rows[4:] {
		a, b := unsafe.Slice((*uint64)(unsafe.Pointer(rows[0])), words), unsafe.Slice((*uint64)(unsafe.Pointer(rows[1])), words)
		c, d := unsafe.Slice((*uint64)(unsafe.Pointer(rows[2])), words), unsafe.Slice((*uint64)(unsafe.Pointer(rows[3])), words)
		for i, x := range first {
			diff[i] |= (a[i] ^ x) | (b[i] ^ x) | (c[i] ^ x) | (d[i] ^ x)
		}
	}
	for _, row := range rows {
		for i, x := range unsafe.Slice((*uint64)(unsafe.Pointer(row)), words) {
			diff[i] |= x ^ first[i]
		}
	}
	return diff
}

// comparedBytes is the longest field that is compared: stacks and lists, at the end of records,
// are seldom the same.
const comparedBytes = 24

// span is where a field lies in the words of its record.
type span struct {
	from, to int    // words
	head     uint64 // bits of the first one; of a field of several words all count
	also     int    // word that decides too: of an address its family
	alsoBits uint64
}

func spanOf(f schema.Field) span {
	if f.Size > comparedBytes {
		return span{}
	}
	s := span{from: f.Offset / word, to: (f.Offset + f.Size + word - 1) / word, head: math.MaxUint64}
	if f.Size < word && s.to == s.from+1 {
		s.head = (1<<(8*f.Size) - 1) << (f.Offset % word * 8)
	}
	if f.As == schema.AsIP {
		s.also, s.alsoBits = f.Family/word, 0xffff<<(f.Family%word*8)
	}
	return s
}

// same reports whether no row differs from the others in the field.
func (s *span) same(diff []uint64) bool {
	if s.to == 0 {
		return false
	}
	d := diff[s.from]&s.head | diff[s.also]&s.alsoBits
	for _, x := range diff[s.from+1 : s.to] {
		d |= x
	}
	return d == 0
}
