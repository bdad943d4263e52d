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

// glance is how many rows tell which fields are worth comparing in all.
const glance = 32

// steady finds the bits in which the rows of the block differ, by word of the record. Words of which
// the first rows show that no field is the same are not compared further.
func (e *Encoder) steady(plan []field, words int) []uint64 {
	diff, first := e.diff[:words], wordsAt(e.rows[0], words)
	clear(diff)
	for _, row := range e.rows[1:min(glance, len(e.rows))] {
		for i, x := range wordsAt(row, words) {
			diff[i] |= x ^ first[i]
		}
	}
	if len(e.rows) <= glance {
		return diff
	}
	asked := e.asked[:words]
	clear(asked)
	for i := range plan {
		if s := &plan[i].span; s.same(diff) {
			for w := s.from; w < s.to; w++ {
				asked[w] = true
			}
			asked[s.also] = asked[s.also] || s.alsoBits != 0
		}
	}
	rows := e.rows[glance:]
	for w := range asked {
		if !asked[w] {
			continue
		}
		x, d := first[w], uint64(0)
		for _, row := range rows {
			d |= *(*uint64)(unsafe.Add(unsafe.Pointer(row), w*word)) ^ x
		}
		diff[w] |= d
	}
	return diff
}

// wordsAt is the record as words.
func wordsAt(row *byte, words int) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(row)), words)
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
