package parquetfile

import (
	"errors"
	"fmt"

	"netrec/analyze/words"
)

// maxRowsPerByte bounds how many rows a byte of a row group may stand for, so
// that a small file cannot ask for hours of work. A group of nothing but
// constants stays a hundred times below it.
const maxRowsPerByte = 4096

// chunk is one column of one row group, in one run of bytes.
type chunk struct {
	off   int64 // of its first page
	size  int32 // bytes in the file
	raw   int32 // bytes decompressed, headers included
	col   int16
	leaf  int16
	codec uint8
}

// Group is one row group and where its columns are.
type Group struct {
	Rows   int
	Filter int64 // offset of the bloom filter that the caller will ask, which it sets; 0 for none

	chunks []chunk // of columns with a number, without those that are NULL throughout
	leaves []Leaf
}

// find returns the chunk of a column, nil if the group has no value in it.
func (g *Group) find(c int) *chunk {
	for i := range g.chunks {
		if g.chunks[i].col == int16(c) {
			return &g.chunks[i]
		}
	}
	return nil
}

// parseGroup decodes a Thrift RowGroup and checks what can be checked without
// the file: columns against the schema, types, codecs, encodings, counts, limits.
func (t *Table) parseGroup(r *thrift, leaves []Leaf) (Group, Stats, error) {
	g := Group{Rows: -1, leaves: leaves}
	if leaves == nil {
		return g, Stats{}, errors.New("no schema before it")
	}
	var metas []columnMeta
	for id, typ := range r.fields() {
		switch id {
		case 1:
			n := r.list(typ, tStruct)
			if r.err == nil && n != len(leaves) {
				return g, Stats{}, fmt.Errorf("%d columns of %d", n, len(leaves))
			}
			metas = make([]columnMeta, n)
			for i := range metas {
				metas[i].parse(r)
			}
		case 3:
			v := r.i64(typ)
			if v > t.Limits.Group {
				return g, Stats{}, TooLarge("rows of a row group", v, t.Limits.Group)
			}
			g.Rows = int(v)
		default:
			r.skip(typ, 0)
		}
	}
	switch {
	case r.err != nil:
		return g, Stats{}, r.err
	case g.Rows < 0:
		return g, Stats{}, errors.New("no count of rows")
	case metas == nil:
		return g, Stats{}, errors.New("no columns")
	}
	for i := range metas {
		if err := g.add(i, &metas[i], t); err != nil {
			return g, Stats{}, fmt.Errorf("column %s: %w", leaves[i].Name, err)
		}
	}
	return g, Stats{leaves, metas}, g.check()
}

// check compares what the columns say with each other.
func (g *Group) check() error {
	var bytes int64
	for i := range g.chunks {
		bytes += int64(g.chunks[i].size)
	}
	if int64(g.Rows) > maxRowsPerByte*bytes {
		return fmt.Errorf("%s in %s", words.Count(int64(g.Rows), "row"), words.Count(bytes, "byte"))
	}
	return nil
}

// add takes over column i if it has a number and holds a value.
func (g *Group) add(i int, m *columnMeta, t *Table) error {
	l := &g.leaves[i]
	if l.Col < 0 || g.Rows == 0 {
		return nil
	}
	if err := m.check(g, l, t); err != nil {
		return err
	}
	c := chunk{off: m.dataPage, size: int32(m.size), raw: int32(m.raw), col: int16(l.Col), leaf: int16(i), codec: uint8(m.codec)}
	if m.dictPage > 0 && m.dictPage < m.dataPage {
		c.off = m.dictPage
	}
	if c.off < int64(len(magic)) || m.dataPage-c.off >= m.size {
		return errors.New("pages outside of the column")
	}
	if !(l.Optional && m.nulls == m.values) {
		g.chunks = append(g.chunks, c)
	}
	return nil
}

// Groups reads row groups that stand one after the other, each a Thrift RowGroup.
type Groups struct{ r thrift }

// NewGroups reads from bytes, which have to stay as they are until the last row group is read.
func NewGroups(b []byte) *Groups { return &Groups{thrift{b: b}} }

// More reports whether there are bytes left.
func (s *Groups) More() bool { return s.r.pos < len(s.r.b) }

// Next reads a row group of a table with the columns given.
func (s *Groups) Next(t *Table, leaves []Leaf) (Group, Stats, error) {
	return t.parseGroup(&s.r, leaves)
}
