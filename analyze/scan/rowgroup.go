package scan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"netrec/schema"
)

// Columns that the reader itself needs.
var (
	colTS    = Col(schema.ColumnIndex("ts_ns"))
	colEvent = Col(schema.ColumnIndex("event"))
	colCPU   = Col(schema.ColumnIndex("cpu"))
	colSeq   = Col(schema.ColumnIndex("seq"))
	colSock  = Col(schema.ColumnIndex("sock"))
)

// maxName is far longer than the name of any event.
const maxName = 128

// chunk is one column of one row group, in one run of bytes.
type chunk struct {
	off   int64 // of its first page
	size  int32 // bytes in the file
	raw   int32 // bytes decompressed, headers included
	col   int16
	leaf  int16
	codec uint8
}

// group is one row group: where its columns are and what they may hold.
type group struct {
	rows   int
	chunks []chunk // of our columns, without those that are NULL throughout
	leaves []leaf

	tsMin, tsMax int64
	hasTS        bool // tsMin and tsMax are known
	tsNulls      int64

	sockMin, sockMax uint64
	hasSock          bool
	bloom            int64 // offset of the filter on sock, 0 for none

	event string // of every row, "" if the statistics do not say so

	events []*schema.Event // kinds of rows in the group, without unknown ones; known once the file is open
}

// find returns the chunk of a column, nil if the group has no value in it.
func (g *group) find(c Col) *chunk {
	for i := range g.chunks {
		if g.chunks[i].col == int16(c) {
			return &g.chunks[i]
		}
	}
	return nil
}

// parseGroup decodes a Thrift RowGroup and checks what can be checked without
// the file: columns against the schema, types, codecs, encodings, counts, limits.
func parseGroup(r *thrift, leaves []leaf, o *Options) (group, error) {
	g := group{rows: -1, leaves: leaves}
	if leaves == nil {
		return g, errors.New("no schema before it")
	}
	var metas []columnMeta
	for id, t := range r.fields() {
		switch id {
		case 1:
			n := r.list(t, tStruct)
			if r.err == nil && n != len(leaves) {
				return g, fmt.Errorf("%d columns of %d", n, len(leaves))
			}
			metas = make([]columnMeta, n)
			for i := range metas {
				metas[i].parse(r)
			}
		case 3:
			v := r.i64(t)
			if v > o.MaxGroup {
				return g, tooLarge("rows of a row group", v, o.MaxGroup)
			}
			g.rows = int(v)
		default:
			r.skip(t, 0)
		}
	}
	switch {
	case r.err != nil:
		return g, r.err
	case g.rows < 0:
		return g, errors.New("no count of rows")
	case metas == nil:
		return g, errors.New("no columns")
	}
	for i := range metas {
		if err := g.add(i, &metas[i], o); err != nil {
			return g, fmt.Errorf("column %s: %w", leaves[i].name, err)
		}
	}
	return g, g.check()
}

// check compares what the columns say with each other.
func (g *group) check() error {
	var bytes int64
	for i := range g.chunks {
		bytes += int64(g.chunks[i].size)
	}
	if int64(g.rows) > maxRowsPerByte*bytes {
		return fmt.Errorf("%s in %s", plural(int64(g.rows), "row"), plural(bytes, "byte"))
	}
	if g.rows > 0 && g.hasTS && g.tsMin > g.tsMax {
		return errors.New("column ts_ns: statistics contradict each other")
	}
	return nil
}

// add takes over column i if it is one of ours and holds a value.
func (g *group) add(i int, m *columnMeta, o *Options) error {
	l := &g.leaves[i]
	if l.col < 0 || g.rows == 0 {
		return nil
	}
	if err := m.check(g, l, o); err != nil {
		return err
	}
	c := chunk{off: m.dataPage, size: int32(m.size), raw: int32(m.raw), col: int16(l.col), leaf: int16(i), codec: uint8(m.codec)}
	if m.dictPage > 0 && m.dictPage < m.dataPage {
		c.off = m.dictPage
	}
	if c.off < int64(len(schema.Magic)) || m.dataPage-c.off >= m.size {
		return errors.New("pages outside of the column")
	}
	g.statistics(l, m)
	if !(l.optional && m.nulls == m.values) {
		g.chunks = append(g.chunks, c)
	}
	return nil
}

// statistics takes what selects row groups later. Bounds that are missing or of
// an odd length are no bounds.
func (g *group) statistics(l *leaf, m *columnMeta) {
	switch l.col {
	case colTS:
		if m.nulls > 0 {
			g.tsNulls = m.nulls
		}
		min, okMin := statInt(l, m.min, m.oldMin)
		max, okMax := statInt(l, m.max, m.oldMax)
		g.tsMin, g.tsMax, g.hasTS = min, max, okMin && okMax
	case colSock:
		g.bloom = m.bloom
		min, okMin := statInt(l, m.min, nil)
		max, okMax := statInt(l, m.max, nil)
		// Signed bounds only bound addresses of one sign.
		g.hasSock = okMin && okMax && (l.unsigned && uint64(min) <= uint64(max) || min <= max && min^max >= 0)
		g.sockMin, g.sockMax = uint64(min), uint64(max)
	case colEvent:
		if bytes.Equal(m.min, m.max) && !m.inexact && (!l.optional || m.nulls == 0) && len(m.min) <= maxName {
			g.event = string(m.min)
		}
	}
}

func statInt(l *leaf, b, old []byte) (int64, bool) {
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

func (l *leaf) widen(v int32) int64 {
	if l.unsigned {
		return int64(uint32(v))
	}
	return int64(v)
}
