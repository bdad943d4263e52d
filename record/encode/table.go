package encode

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// intTable numbers distinct integers in the order in which they come. It is an
// open-addressing table that keeps its memory between row groups.
type intTable struct {
	slots []intSlot
	shift uint
	age   uint32 // of the slots in use; others are left from before
	keys  []int64
}

type intSlot struct {
	key int64
	ord int32  // position in keys
	age uint32 // free unless that of the table
}

const minSlots = 64

// reset forgets all keys, without a look at their slots.
func (t *intTable) reset() {
	t.keys = t.keys[:0]
	if t.age++; t.age == 0 {
		clear(t.slots)
		t.age = 1
	}
}

// slot is where a key lies, or the free one where it would.
func (t *intTable) slot(key int64) *intSlot {
	for i := hashInt(key) >> t.shift; ; i++ {
		if s := &t.slots[i&uint64(len(t.slots)-1)]; s.age != t.age || s.key == key {
			return s
		}
	}
}

// seen is the number of a key that lies where it is looked for first, as nearly all do; small
// enough to be inlined.
func (t *intTable) seen(key int64) (int32, bool) {
	s := &t.slots[hashInt(key)>>t.shift]
	return s.ord, s.key == key && s.age == t.age
}

// index is the number of key, and whether the key is new.
func (t *intTable) index(key int64) (int32, bool) {
	if 2*len(t.keys) >= len(t.slots) {
		t.grow()
	}
	s := t.slot(key)
	fresh := s.age != t.age
	if fresh {
		*s = intSlot{key, int32(len(t.keys)), t.age}
		t.keys = append(t.keys, key)
	}
	return s.ord, fresh
}

func (t *intTable) grow() {
	n := max(minSlots, 2*len(t.slots))
	t.slots = make([]intSlot, n)
	t.age = max(t.age, 1)
	t.shift = uint(64 - bits.TrailingZeros(uint(n)))
	for ord, key := range t.keys {
		*t.slot(key) = intSlot{key, int32(ord), t.age}
	}
}

// hashInt spreads keys over the high bits, which choose the slot.
func hashInt(key int64) uint64 { return uint64(key) * 0x9e3779b97f4a7c15 }

// byteTable numbers distinct byte strings. It stores them as Parquet's PLAIN
// encoding does, so that a table of values is a dictionary page as it lies.
type byteTable struct {
	slots []byteSlot
	plain []byte // length as uint32, then the bytes, for each
	ends  []int  // where each string ends in plain
}

type byteSlot struct {
	hash uint64
	ord  int32 // number plus one; 0 for a free slot
}

var seed = maphash.MakeSeed()

func (t *byteTable) reset() {
	clear(t.slots)
	t.plain, t.ends = t.plain[:0], t.ends[:0]
}

func (t *byteTable) len() int { return len(t.ends) }

func (t *byteTable) at(i int32) []byte {
	start := 4
	if i > 0 {
		start += t.ends[i-1]
	}
	return t.plain[start:t.ends[i]]
}

// index is the number of key, and whether the key is new.
func (t *byteTable) index(key []byte) (int32, bool) {
	if 2*len(t.ends) >= len(t.slots) {
		t.grow()
	}
	h := maphash.Bytes(seed, key)
	for i := h; ; i++ {
		s := &t.slots[i&uint64(len(t.slots)-1)]
		if s.ord == 0 {
			t.plain = binary.LittleEndian.AppendUint32(t.plain, uint32(len(key)))
			t.plain = append(t.plain, key...)
			t.ends = append(t.ends, len(t.plain))
			s.hash, s.ord = h, int32(len(t.ends))
			return s.ord - 1, true
		}
		if s.hash == h && string(t.at(s.ord-1)) == string(key) {
			return s.ord - 1, false
		}
	}
}

func (t *byteTable) grow() {
	old := t.slots
	t.slots = make([]byteSlot, max(minSlots, 2*len(old)))
	for _, s := range old {
		if s.ord == 0 {
			continue
		}
		i := s.hash
		for t.slots[i&uint64(len(t.slots)-1)].ord != 0 {
			i++
		}
		t.slots[i&uint64(len(t.slots)-1)] = s
	}
}
