package encode

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"

	"netrec/schema"
)

// pageBuffers are the scratch of one column chunk.
type pageBuffers struct {
	dict, data []byte // uncompressed pages
	packed     []byte // encoded values
	levels     packedLevels
	zipped     []byte // compressed page
	other      []byte // the same in another encoding
	header     compact
	deltas     delta.BinaryPackedEncoding
}

// finish writes the pages of every column, then bloom filters, and leaves the
// metadata of the group in e.meta.
func (e *Encoder) finish(dst []byte, off int64, n int) ([]byte, error) {
	start := int64(len(dst))
	e.pages.levels.bits = nil // of the group before
	for i := range e.columns {
		c := &e.columns[i]
		c.levels.addNulls(n - c.levels.rows)
		if c.required && c.levels.nulls > 0 {
			return dst, fmt.Errorf("column %s: %d rows without a value", c.name, c.levels.nulls)
		}
		var err error
		if dst, err = e.chunk(dst, off, i); err != nil {
			return dst, fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	total := int64(len(dst)) - start
	for i := range e.columns {
		if c := &e.columns[i]; c.bloomed() {
			dst = e.appendBloom(dst, off, c)
		}
	}
	e.describe(off+start, total, n)
	return dst, nil
}

// chunk writes the dictionary page, if any, and the data page of a column.
func (e *Encoder) chunk(dst []byte, off int64, i int) ([]byte, error) {
	c := &e.columns[i]
	p, ch, trial, try := &e.pages, &c.chunk, &e.dull.trials[i], false
	if c.levels.values() > 0 {
		ch.encoding, try = e.choose(c, trial)
		c.setStats()
		c.number.noteSpread(&e.dull.spread[i])
		if page, entries := c.dictionary(p.dict); entries > 0 {
			if c.typ != schema.String {
				p.dict = page
			}
			ch.dict = off + int64(len(dst))
			dst = e.dictPage(dst, page, entries, i)
		}
	}
	page, err := e.dataPage(c)
	if err != nil {
		return dst, err
	}
	ch.data = off + int64(len(dst))
	p.zipped = e.compress(p.zipped[:0], page, &e.dull.data[i])
	raw := len(page)
	if try {
		if raw, err = e.tryPlain(c, trial, raw); err != nil {
			return dst, err
		}
	}
	h := e.pageHeader(format.DataPage, raw, len(p.zipped))
	h.begin(5)
	h.i32(1, int32(c.levels.rows))
	h.i32(2, int32(ch.encoding))
	h.i32(3, int32(format.RLE))
	h.i32(4, int32(format.RLE))
	h.end()
	return e.endPage(dst, raw, ch), nil
}

func (e *Encoder) dictPage(dst, page []byte, entries, i int) []byte {
	e.pages.zipped = e.compress(e.pages.zipped[:0], page, &e.dull.dict[i])
	h := e.pageHeader(format.DictionaryPage, len(page), len(e.pages.zipped))
	h.begin(7)
	h.i32(1, int32(entries))
	h.i32(2, int32(format.Plain))
	h.end()
	return e.endPage(dst, len(page), &e.columns[i].chunk)
}

func (e *Encoder) pageHeader(typ format.PageType, raw, size int) *compact {
	h := &e.pages.header
	h.buf = h.buf[:0]
	h.open()
	h.i32(1, int32(typ))
	h.i32(2, int32(raw))
	h.i32(3, int32(size))
	return h
}

// endPage writes the header and the compressed page.
func (e *Encoder) endPage(dst []byte, raw int, ch *chunk) []byte {
	h, body := &e.pages.header, e.pages.zipped
	h.end()
	ch.raw += int64(len(h.buf) + raw)
	ch.size += int64(len(h.buf) + len(body))
	return append(append(dst, h.buf...), body...)
}

// dataPage encodes levels and values.
func (e *Encoder) dataPage(c *column) ([]byte, error) {
	p := &e.pages
	p.data = p.data[:0]
	var err error
	if !c.required {
		if p.data, err = c.levels.append(p.data, &p.levels); err != nil {
			return nil, err
		}
	}
	switch {
	case c.levels.values() == 0:
	case c.typ == schema.String:
		err = p.positions(&c.text.at, c.entries())
	case c.chunk.encoding == format.RLEDictionary:
		err = p.positions(&c.number.at, c.entries())
	case c.chunk.encoding == format.DeltaBinaryPacked:
		err = p.appendDeltas(&c.number)
	default:
		p.data = appendPlain(p.data, c.number.values, c.number.narrow)
	}
	return p.data, err
}

// positions appends dictionary positions; with one entry they are all 0 and take
// no bits.
func (p *pageBuffers) positions(at *positions, entries int) error {
	if entries == 1 {
		p.data = binary.AppendUvarint(append(p.data, 0), uint64(at.n)<<1)
		return nil
	}
	width := bits.Len(uint(entries - 1))
	var err error
	if p.packed, err = dictionaryRuns[width].EncodeInt32(p.packed, at.index); err != nil {
		return err
	}
	p.data = append(append(p.data, byte(width)), p.packed...)
	return nil
}

// dictionaryRuns pack positions of as many bits. The library's encoding of dictionaries would look for
// the greatest position first, which is known here.
var dictionaryRuns = func() (list [32]rle.Encoding) {
	for width := range list {
		list[width].BitWidth = width
	}
	return list
}()
