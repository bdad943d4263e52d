package encode

import "github.com/parquet-go/parquet-go/format"

// describe encodes the RowGroup of the pages just written, which begin at off and
// take size bytes.
func (e *Encoder) describe(off, size int64, rows int) {
	m := &e.meta
	m.buf, m.last, m.depth = m.buf[:0], 0, 0
	m.open()
	m.list(1, tStruct, len(e.columns))
	var raw int64
	for i := range e.columns {
		e.columns[i].describe(m)
		raw += e.columns[i].chunk.raw
	}
	m.i64(2, raw)
	m.i64(3, int64(rows))
	m.list(4, tStruct, 1)
	m.open() // rows ascend by the first column, ts_ns
	m.i32(1, 0)
	m.boolean(2, false)
	m.boolean(3, false)
	m.end()
	m.i64(5, off)
	m.i64(6, size)
	m.end()
}

// describe encodes the column's ColumnChunk.
func (c *column) describe(m *compact) {
	ch := &c.chunk
	m.open()
	m.i64(2, 0) // file_offset: deprecated, but required
	m.begin(3)
	m.i32(1, int32(physical(c.typ)))
	encodings := [...]format.Encoding{format.RLE, ch.encoding, format.Plain}
	n := 2
	if ch.dict != 0 {
		n = 3
	}
	m.list(2, tI32, n)
	for _, enc := range encodings[:n] {
		m.zigzag(int64(enc))
	}
	m.list(3, tBinary, 1)
	m.rawString(c.name)
	m.i32(4, int32(format.Zstd))
	m.i64(5, int64(c.levels.rows))
	m.i64(6, ch.raw)
	m.i64(7, ch.size)
	m.i64(9, ch.data)
	if ch.dict != 0 {
		m.i64(11, ch.dict)
	}
	m.begin(12)
	m.i64(3, int64(c.levels.nulls))
	if ch.min != nil {
		m.bytes(5, ch.max)
		m.bytes(6, ch.min)
	}
	m.end()
	if ch.bloomLen != 0 {
		m.i64(14, ch.bloom)
		m.i32(15, ch.bloomLen)
	}
	m.end()
	m.end()
}
