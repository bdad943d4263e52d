package encode

import (
	"github.com/parquet-go/parquet-go/format"

	"netrec/schema"
)

// The positions of several streams, row by row, have differences as long as they are themselves, but
// each is near one that stood a few rows before. Compression sees that in plain values, not in
// packed differences. It takes four times as long over them, so they are for hosts that leave the time.

// trial remembers, for some row groups of the same event, which of the two is shorter.
type trial struct {
	plain bool
	left  uint8 // row groups
}

// choose decides the encoding of the column's values, and whether plain ones are to be tried beside it.
func (e *Encoder) choose(c *column, t *trial) (enc format.Encoding, try bool) {
	if c.typ == schema.String {
		return format.RLEDictionary, false
	}
	enc = c.number.choose()
	if enc != format.DeltaBinaryPacked || c.number.grows || e.Hurry || c.number.count() < minSpread {
		return enc, false
	}
	if t.left == 0 {
		return enc, true
	}
	t.left--
	if t.plain {
		return format.Plain, false
	}
	return enc, false
}

// tryPlain compresses the plain values too and keeps the shorter page. It takes the length of the one there is,
// and returns that of the one that is kept, both before compression.
func (e *Encoder) tryPlain(c *column, t *trial, raw int) (int, error) {
	p, was := &e.pages, c.chunk.encoding
	p.zipped, p.other = p.other, p.zipped
	c.chunk.encoding = format.Plain
	page, err := e.dataPage(c)
	if err != nil {
		return 0, err
	}
	var dull uint8
	p.zipped = e.compress(p.zipped[:0], page, &dull)
	*t = trial{len(p.zipped) < len(p.other), dullFor}
	if t.plain {
		return len(page), nil
	}
	p.zipped, p.other = p.other, p.zipped
	c.chunk.encoding = was
	return raw, nil
}
