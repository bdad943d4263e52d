package encode

import (
	"cmp"
	"math"
	"slices"
	"unsafe"
)

// Some fields have values in few rows, and in the same ones: the totals of a connection when it
// ends. The schema says which; elsewhere they are all ones. The rows that have any of them are found
// once, and only these are looked at.

// together puts the fields that have values in the same rows at the end of the plan, side by side: each kind
// has a number, and the words in which its fields lie.
func together(plan []field) {
	slices.SortStableFunc(plan, func(a, b field) int { return cmp.Compare(a.With, b.With) })
	for i, kind := 0, 1; i < len(plan); kind++ {
		n := 1
		for i+n < len(plan) && plan[i+n].With == plan[i].With {
			n++
		}
		if kin := plan[i : i+n]; kin[0].With != "" {
			words := wordsOf(kin)
			for j := range kin {
				kin[j].kin, kin[j].words = kind, words
			}
		}
		i += n
	}
}

// wordsOf lists the offsets of the words that cover the fields. They may overlap; a field of half a word
// that lies alone takes its neighbour along, and so perhaps rows that have nothing in the field.
func wordsOf(kin []field) (words []int) {
	byOffset := slices.SortedFunc(slices.Values(kin), func(a, b field) int { return a.Offset - b.Offset })
	for i := 0; i < len(byOffset); {
		from, to := byOffset[i].Offset, byOffset[i].Offset
		for ; i < len(byOffset) && byOffset[i].Offset == to; i++ {
			to += byOffset[i].Size
		}
		for ; from+word <= to; from += word {
			words = append(words, from)
		}
		if from < to {
			words = append(words, to-word)
		}
	}
	return words
}

// some is the rows of a block that have a value in one of the fields.
type some struct {
	rows []*byte
	at   []int32 // their numbers in the block
	bits []uint8 // by row of the block: 1 for those
}

func newSome() some {
	return some{make([]*byte, 0, block), make([]int32, block), make([]uint8, block)}
}

// find looks for the rows of which not all words are all ones.
func (s *some) find(rows []*byte, words []int) {
	at, have := s.at[:block], 0
	for i, row := range rows {
		ones := uint64(math.MaxUint64)
		for _, off := range words {
			ones &= *(*uint64)(unsafe.Add(unsafe.Pointer(row), off))
		}
		zeros := ^ones
		bit := (zeros | -zeros) >> 63 // 1 if there are any; the processor could not foresee a branch
		at[have], s.bits[i] = int32(i), uint8(bit)
		have += int(bit)
	}
	s.at, s.rows = at[:have], s.rows[:0]
	for _, i := range s.at {
		s.rows = append(s.rows, rows[i])
	}
}

// feedSome is feedField for a number that is NULL in all rows but some.
func (e *Encoder) feedSome(c *column, f *field) {
	v := e.ints[:len(e.some.rows)]
	f.load(v, e.some.rows)
	nulls := 0
	for _, x := range v {
		if x == f.null {
			nulls++
		}
	}
	bits := c.levels.addMixed(len(e.rows), len(e.rows)-len(v)+nulls)
	switch {
	case bits == nil:
		return
	case nulls == 0:
		copy(bits, e.some.bits)
	default:
		kept := 0
		for i, x := range v {
			v[kept] = x
			if x != f.null {
				bits[e.some.at[i]] = 1
				kept++
			}
		}
		v = v[:kept]
	}
	f.convert(v, e.monoToWall)
	c.number.add(v)
}
