package encode

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/rle"
)

// levels are the definition levels of a column: 1 for a value, 0 for NULL. They
// are spelled out per row only for a column that has both.
type levels struct {
	rows, nulls int
	bits        []uint8 // one per row if there are values and NULLs, else empty
}

// packedLevels are levels as a page has them, those of the column that had some last: often the next
// one has values in the same rows.
type packedLevels struct {
	bits []uint8
	runs []byte
}

func (p *packedLevels) of(bits []uint8) (_ []byte, err error) {
	if !bytes.Equal(p.bits, bits) {
		p.bits = bits
		p.runs, err = levelRuns.EncodeLevels(p.runs, bits)
	}
	return p.runs, err
}

var levelRuns = &rle.Encoding{BitWidth: 1}

func (l *levels) reset() { l.rows, l.nulls, l.bits = 0, 0, l.bits[:0] }

func (l *levels) values() int { return l.rows - l.nulls }

func (l *levels) addValues(n int) {
	if n > 0 && l.nulls > 0 {
		l.spell()
		l.fill(n, 1)
	}
	l.rows += n
}

func (l *levels) addNulls(n int) {
	if n > 0 && l.values() > 0 {
		l.spell()
		l.fill(n, 0)
	}
	l.rows, l.nulls = l.rows+n, l.nulls+n
}

// spell makes bits hold every row so far.
func (l *levels) spell() {
	if len(l.bits) == l.rows {
		return
	}
	level := uint8(1)
	if l.nulls > 0 {
		level = 0
	}
	l.fill(l.rows, level)
}

func (l *levels) fill(n int, level uint8) {
	at := len(l.bits)
	l.bits = slices.Grow(l.bits, n)[:at+n]
	added := l.bits[at:]
	if level == 0 {
		clear(added)
		return
	}
	for len(added) > 0 {
		added = added[copy(added, manyOnes[:]):]
	}
}

var manyOnes = func() (list [block]uint8) {
	for i := range list {
		list[i] = 1
	}
	return list
}()

// addMixed adds n rows, some of them NULL: it returns a zero for each, to be set for those
// that are not, or nil where all are.
func (l *levels) addMixed(n, nulls int) []uint8 {
	if nulls == n {
		l.addNulls(n)
		return nil
	}
	l.spell()
	at := len(l.bits)
	l.fill(n, 0)
	l.rows, l.nulls = l.rows+n, l.nulls+nulls
	return l.bits[at:]
}

// dropNulls removes the values equal to null from v and notes which they were.
func (l *levels) dropNulls(v []int64, null int64) []int64 {
	nulls := 0
	for _, x := range v {
		if x == null {
			nulls++
		}
	}
	if nulls == 0 {
		l.addValues(len(v))
		return v
	}
	bits, kept := l.addMixed(len(v), nulls), 0
	for i := range bits {
		x := v[i]
		v[kept] = x
		if x != null {
			bits[i] = 1
			kept++
		}
	}
	return v[:kept]
}

// append adds the levels as a data page has them: a length and RLE runs.
func (l *levels) append(dst []byte, last *packedLevels) ([]byte, error) {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	switch l.nulls {
	case 0:
		dst = append(binary.AppendUvarint(dst, uint64(l.rows)<<1), 1)
	case l.rows:
		dst = append(binary.AppendUvarint(dst, uint64(l.rows)<<1), 0)
	default:
		runs, err := last.of(l.bits)
		if err != nil {
			return dst, err
		}
		dst = append(dst, runs...)
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst, nil
}
