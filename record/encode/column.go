package encode

import (
	"math"

	"github.com/parquet-go/parquet-go/format"

	"netrec/schema"
)

// column collects the values of one column for one row group. All memory is kept
// for the next one.
type column struct {
	name     string
	typ      schema.Type
	required bool
	levels   levels
	number   number
	text     text
	chunk    chunk
	window   *window // of a group of several events
}

// chunk is where the column's pages went and what the footer says about them.
type chunk struct {
	encoding     format.Encoding // of the data page
	dict, data   int64           // absolute offsets of the pages; dict 0 for none
	raw, size    int64           // bytes uncompressed and in the file, headers included
	bloom        int64
	bloomLen     int32
	min, max     []byte // PLAIN; both empty for none
	minAt, maxAt [8]byte
}

func newColumn(s *schema.Column) column {
	c := column{name: s.Name, typ: s.Type, required: s.Required}
	if s.Type == schema.Uint64 {
		c.number.flip = math.MinInt64
	}
	c.number.narrow = s.Type == schema.Int32
	switch s.Name {
	case "ts_ns", "ts", "seq":
		c.number.grows = true
	}
	return c
}

func (c *column) reset(spread bool) {
	c.levels.reset()
	if c.typ == schema.String {
		c.text.reset()
	} else {
		c.number.reset(spread)
	}
	c.chunk = chunk{}
}

// bloomed reports whether the column has a bloom filter: its values are what
// people look up, and every row group holds others.
func (c *column) bloomed() bool { return c.name == "sock" || c.name == "skb" }

// dictionary is the dictionary page of the column, nil for none.
func (c *column) dictionary(scratch []byte) (page []byte, entries int) {
	if c.typ == schema.String {
		return c.text.values.plain, c.text.values.len()
	}
	if !c.number.dict {
		return nil, 0
	}
	return appendPlain(scratch[:0], c.number.table.keys, c.number.narrow), len(c.number.table.keys)
}

// entries is how many the dictionary has.
func (c *column) entries() int {
	if c.typ == schema.String {
		return c.text.values.len()
	}
	return len(c.number.table.keys)
}

// setStats notes the smallest and largest value: of numbers always, of strings
// only for the column that readers prune by.
func (c *column) setStats() {
	ch := &c.chunk
	if c.levels.values() == 0 {
		return
	}
	if c.typ != schema.String {
		ch.min = appendPlain(ch.minAt[:0], []int64{c.number.min}, c.number.narrow)
		ch.max = appendPlain(ch.maxAt[:0], []int64{c.number.max}, c.number.narrow)
		return
	}
	if c.name != "event" {
		return
	}
	ch.min, ch.max = c.text.values.at(0), c.text.values.at(0)
	for i := 1; i < c.text.values.len(); i++ {
		v := c.text.values.at(int32(i))
		if string(v) < string(ch.min) {
			ch.min = v
		}
		if string(v) > string(ch.max) {
			ch.max = v
		}
	}
}
