package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Vec is one column of one batch of rows. Exactly one of Ints and Index is set,
// or none, when every value is NULL.
type Vec struct {
	Ints  []int64  // numbers; unsigned ones of 64 bits by their bits
	Index []int32  // strings, as positions in Dict; -1 for NULL
	Dict  []string //
	Valid []bool   // numbers: false for NULL; nil when none is NULL
}

// Decoder turns column chunks into vectors. It belongs to one goroutine and
// reuses its scratch space; vectors live in buffers of the pool.
type Decoder struct {
	File  io.ReaderAt
	Table *Table
	Pool  *Pool

	zip  Inflater
	text interner

	raw   []byte // a chunk as it is in the file
	page  []byte // a page decompressed
	valid []bool
	ids   []int32
	nums  []int64
	rests []int64
	prev  []byte
	short []byte // a string that was cut

	dict   []int64          // dictionary of a number column
	lookup map[string]int32 // positions in the Dict of a string column
}

// column is the state of decoding one chunk.
type column struct {
	*Decoder
	c       *chunk
	l       *Leaf
	v       *Vec
	rows    int
	row     int // next row
	nulls   int
	hasDict bool
	charged int64 // bytes of strings
}

// Decode fills v with a column of a row group; it stays empty if the group has
// no value in it. charged is what v.Dict holds of the pool's limit.
func (d *Decoder) Decode(g *Group, col int, v *Vec) (charged int64, err error) {
	*v = Vec{}
	c := g.find(col)
	if c == nil {
		return 0, nil
	}
	s := column{Decoder: d, c: c, l: &g.leaves[c.leaf], v: v, rows: g.Rows}
	if err := s.chunk(); err != nil {
		d.Pool.Release(v)
		d.Pool.Refund(s.charged)
		*v = Vec{}
		return 0, Damage(fmt.Sprintf("column %s at offset %d", s.l.Name, c.off), err)
	}
	if s.nulls == s.rows {
		d.Pool.Release(v)
		d.Pool.Refund(s.charged)
		*v = Vec{}
		return 0, nil
	}
	return s.charged, nil
}

// Close frees what the decompressors hold.
func (d *Decoder) Close() { d.zip.Close() }

func (s *column) chunk() error {
	var err error
	if s.raw, err = grown(s.Pool, s.raw, int(s.c.size), 1); err != nil {
		return err
	}
	if _, err = s.File.ReadAt(s.raw, s.c.off); err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	if s.l.phys == physByteArray {
		s.v.Index, err = s.Pool.Index(s.rows)
		clear(s.lookup)
	} else {
		s.v.Ints, err = get(s.Pool, &s.Pool.ints, s.rows, 8)
	}
	b := s.raw
	inflated := int64(0)
	for s.row < s.rows && err == nil {
		var p page
		if p, b, err = nextPage(b, s.c, s.l, s.rows-s.row); err != nil {
			break
		}
		if inflated += int64(p.raw); inflated > int64(s.c.raw) {
			return errors.New("pages larger than the column declares")
		}
		switch {
		case p.kind == pageIndex:
		case p.kind == pageDict:
			err = s.dictionary(&p)
		default:
			err = s.data(&p)
		}
	}
	if err == nil && s.l.kind != plainKind {
		s.scale()
	}
	return err
}

// inflate decompresses a page into the scratch buffer. Uncompressed pages are
// used where they are.
func (s *column) inflate(codec uint8, b []byte, raw int) ([]byte, error) {
	if codec == codecNone {
		if len(b) != raw {
			return nil, fmt.Errorf("%d bytes where the page declares %d", len(b), raw)
		}
		return b, nil
	}
	var err error
	if s.page, err = grown(s.Pool, s.page, raw, 1); err != nil {
		return nil, err
	}
	return s.page, s.zip.inflate(codec, s.page, b)
}

func (s *column) dictionary(p *page) error {
	if s.hasDict || s.row > 0 {
		return errors.New("dictionary in the wrong place")
	}
	if p.encoding != encPlain && p.encoding != encPlainDictionary {
		return fmt.Errorf("%w: dictionary in encoding %d", ErrUnsupport, p.encoding)
	}
	b, err := s.inflate(s.c.codec, p.body, int(p.raw))
	if err != nil {
		return err
	}
	s.hasDict = true
	if s.l.phys == physByteArray {
		return s.textDictionary(b, int(p.values))
	}
	if int(p.values) > len(b)/s.l.width() {
		return errCut
	}
	if s.dict, err = grown(s.Pool, s.dict, int(p.values), 8); err != nil {
		return err
	}
	return s.plainInts(b, s.dict)
}

// data decodes a data page of either version.
func (s *column) data(p *page) error {
	n := int(p.values)
	if n == 0 {
		return nil
	}
	var def, b []byte
	var err error
	if p.kind == pageDataV2 {
		def, b = p.body[:p.defBytes], p.body[p.defBytes:]
		codec := s.c.codec
		if p.plain || len(b) == 0 {
			codec = codecNone
		}
		b, err = s.inflate(codec, b, int(p.raw-p.defBytes))
	} else {
		b, err = s.inflate(s.c.codec, p.body, int(p.raw))
		if err == nil && s.l.Optional {
			def, b, err = cutLevels(b)
		}
	}
	if err != nil {
		return err
	}
	values := n
	if s.l.Optional {
		if s.valid, err = grown(s.Pool, s.valid, n, 1); err != nil {
			return err
		}
		if values, err = levels(def, s.valid); err != nil {
			return fmt.Errorf("definition levels: %w", err)
		}
		if p.kind == pageDataV2 && n-values != int(p.nulls) {
			return fmt.Errorf("%d NULLs where the page declares %d", n-values, p.nulls)
		}
	}
	if err := s.values(p.encoding, b, n, values); err != nil {
		return err
	}
	s.row += n
	s.nulls += n - values
	return nil
}

// cutLevels splits a v1 page into definition levels and values.
func cutLevels(b []byte) (def, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errCut
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if n > uint64(len(b)-4) {
		return nil, nil, errors.New("levels longer than the page")
	}
	return b[4 : 4+n], b[4+n:], nil
}

// values decodes the values of a page and moves them to their rows.
func (s *column) values(encoding int32, b []byte, n, values int) error {
	if s.v.Index != nil {
		out := s.v.Index[s.row : s.row+n]
		if values > 0 {
			if err := s.texts(encoding, b, out[:values]); err != nil {
				return err
			}
		}
		if values < n {
			spread(out, s.valid, values, -1)
		}
		return nil
	}
	out := s.v.Ints[s.row : s.row+n]
	if values > 0 {
		if err := s.ints(encoding, b, out[:values]); err != nil {
			return err
		}
	}
	if values < n {
		spread(out, s.valid, values, 0)
	}
	return s.validity(n, values)
}

// validity notes which rows of a number column are NULL, from the first one on.
func (s *column) validity(n, values int) error {
	if s.v.Valid == nil {
		if values == n {
			return nil
		}
		v, err := get(s.Pool, &s.Pool.bools, s.rows, 1)
		if err != nil {
			return err
		}
		for i := range s.row {
			v[i] = true
		}
		s.v.Valid = v
	}
	out := s.v.Valid[s.row : s.row+n]
	if s.l.Optional {
		copy(out, s.valid)
	}
	return nil
}

// spread moves the first values of dst to where valid is true, from the back.
func spread[T int32 | int64](dst []T, valid []bool, values int, null T) {
	for i := len(dst) - 1; i >= 0; i-- {
		if valid[i] {
			values--
			dst[i] = dst[values]
		} else {
			dst[i] = null
		}
	}
}
