package parquetfile

import (
	"bytes"
	"encoding/binary"
)

// Stats is what the metadata of a row group says about the values in it. It is of use while the
// footer is parsed: its bytes are the footer's.
type Stats struct {
	leaves []Leaf
	metas  []columnMeta
}

// Of is what is said about a column, false if the file has no such column.
func (s Stats) Of(col int) (ColumnStats, bool) {
	for i := range s.leaves {
		if s.leaves[i].Col == col {
			return ColumnStats{&s.leaves[i], &s.metas[i]}, true
		}
	}
	return ColumnStats{}, false
}

// ColumnStats is what is said about the values of one column. Bounds that are missing or of an
// odd length are no bounds.
type ColumnStats struct {
	l *Leaf
	m *columnMeta
}

// Nulls is how many values are NULL, -1 if that is not said.
func (s ColumnStats) Nulls() int64 { return s.m.nulls }

// Filter is the offset of the bloom filter, 0 for none.
func (s ColumnStats) Filter() int64 { return s.m.bloom }

// Ints are the bounds of signed numbers.
func (s ColumnStats) Ints() (least, most int64, ok bool) {
	return s.bounds(s.m.oldMin, s.m.oldMax)
}

// Uints are the bounds of numbers that are unsigned, whatever the file calls them.
func (s ColumnStats) Uints() (least, most uint64, ok bool) {
	low, high, ok := s.bounds(nil, nil)
	// Signed bounds only bound numbers of one sign.
	ok = ok && (s.l.unsigned && uint64(low) <= uint64(high) || low <= high && low^high >= 0)
	return uint64(low), uint64(high), ok
}

// Only is the string that every row has, "" if that is not said or it is longer than most.
func (s ColumnStats) Only(most int) string {
	if bytes.Equal(s.m.min, s.m.max) && !s.m.inexact && (!s.l.Optional || s.m.nulls == 0) && len(s.m.min) <= most {
		return string(s.m.min)
	}
	return ""
}

// bounds takes those of the fields from before orders were defined where there are no others.
func (s ColumnStats) bounds(oldMin, oldMax []byte) (least, most int64, ok bool) {
	least, okMin := statInt(s.l, s.m.min, oldMin)
	most, okMax := statInt(s.l, s.m.max, oldMax)
	return least, most, okMin && okMax
}

func statInt(l *Leaf, b, old []byte) (int64, bool) {
	if b == nil {
		b = old
	}
	switch {
	case l.phys == physInt64 && len(b) == 8:
		return int64(binary.LittleEndian.Uint64(b)), true
	case l.phys == physInt32 && len(b) == 4:
		return l.widen(int32(binary.LittleEndian.Uint32(b))), true
	}
	return 0, false
}
