package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/deprecated"
	compact "github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"netrec/schema"
)

// bomb is a file of few bytes that stands for many rows: every number counts up, which is one
// delta, and every string is the one before it and a little more.
type bomb struct {
	events []*schema.Event // a row group of each, one after the other in time
	rounds int             // so often
	rows   int             // of a row group
	text   int             // bytes of the longest string
	grow   int             // by so many bytes a string is longer than the one before it, 12 or more; 0 for all the same
}

// write makes the file, by hand: no library puts so many rows into a page.
func (b *bomb) write(t testing.TB, path string) {
	t.Helper()
	zip, err := zstd.NewWriter(nil)
	must(t, err)
	w := bombWriter{bomb: b, t: t, zip: zip, out: []byte(schema.Magic)}
	w.columns()
	for w.round = range b.rounds {
		for _, e := range b.events {
			w.group(e)
		}
	}
	foot := w.thrift(&w.meta)
	w.out = binary.LittleEndian.AppendUint32(append(w.out, foot...), uint32(len(foot)))
	must(t, os.WriteFile(path, append(w.out, schema.Magic...), 0o600))
}

type bombWriter struct {
	*bomb
	t     testing.TB
	zip   *zstd.Encoder
	out   []byte
	meta  format.FileMetaData
	of    []int // columns of the file
	round int
	n     int64 // rows so far
}

func (w *bombWriter) thrift(v any) []byte {
	b, err := compact.Marshal(new(compact.CompactProtocol), v)
	must(w.t, err)
	return b
}

var bombTypes = map[schema.Type]struct {
	phys format.Type
	kind deprecated.ConvertedType
}{schema.Int32: {format.Int32, deprecated.Int32}, schema.Int64: {format.Int64, deprecated.Int64}, schema.Uint64: {format.Int64, deprecated.Uint64},
	schema.Micros: {format.Int64, deprecated.TimestampMicros}, schema.String: {format.ByteArray, deprecated.UTF8}}

// columns describes those that any of the events fills.
func (w *bombWriter) columns() {
	root := format.SchemaElement{Name: "netrec"}
	w.meta.Version, w.meta.Schema = 1, append(w.meta.Schema, root)
	for i := range schema.Columns {
		c := &schema.Columns[i]
		if !slices.ContainsFunc(w.events, func(e *schema.Event) bool { return fills(c, e) }) {
			continue
		}
		s := format.SchemaElement{Name: c.Name}
		s.Type.V, s.Type.Valid = bombTypes[c.Type].phys, true
		s.ConvertedType.V, s.ConvertedType.Valid = bombTypes[c.Type].kind, true
		s.RepetitionType.V, s.RepetitionType.Valid = format.Optional, true
		w.of, w.meta.Schema = append(w.of, i), append(w.meta.Schema, s)
	}
	w.meta.Schema[0].NumChildren.V, w.meta.Schema[0].NumChildren.Valid = int32(len(w.of)), true
}

// group writes a row group of an event.
func (w *bombWriter) group(e *schema.Event) {
	g := format.RowGroup{NumRows: int64(w.rows)}
	for _, i := range w.of {
		c := &schema.Columns[i]
		m := format.ColumnMetaData{Type: bombTypes[c.Type].phys, Encoding: []format.Encoding{format.Plain, format.RLE, format.DeltaBinaryPacked, format.DeltaByteArray, format.RLEDictionary},
			PathInSchema: []string{c.Name}, NumValues: int64(w.rows), DataPageOffset: int64(len(w.out))}
		before := len(w.out)
		names := enumNames[i]
		if c.Name == "event" {
			names = []string{e.Name}
		}
		switch {
		case !fills(c, e):
			m.Statistics.NullCount = int64(w.rows)
			w.page(&m, format.Plain, w.rows, 0, nil)
		case c.Type == schema.String && len(names) == 0 && w.grow == 0:
			names = []string{"x"}
			fallthrough
		case len(names) > 0:
			m.DictionaryPageOffset = m.DataPageOffset
			w.named(&m, names[w.round%len(names)])
		case c.Type == schema.String:
			m.Codec = format.Zstd
			w.texts(&m)
		default:
			first, step := w.numbers(c)
			m.Statistics.MinValue, m.Statistics.MaxValue = w.bounds(c, first, step)
			w.page(&m, format.DeltaBinaryPacked, w.rows, w.rows, w.delta(w.rows, first, step))
		}
		m.TotalCompressedSize = int64(len(w.out) - before)
		m.TotalUncompressedSize += m.TotalCompressedSize
		g.Columns = append(g.Columns, format.ColumnChunk{MetaData: m})
	}
	w.n += int64(w.rows)
	w.meta.NumRows += int64(w.rows)
	w.meta.RowGroups = append(w.meta.RowGroups, g)
}

// numbers is what a column of numbers begins with in a group, and its step.
func (w *bombWriter) numbers(c *schema.Column) (first, step int64) {
	switch {
	case c.Name == "ts_ns":
		first, step = edgeWall, 1000
	case c.Name == "ts":
		first, step = edgeWall/1000, 1
	case c.Type == schema.Uint64:
		first, step = -0x777ffffff000, 0x400 // ffff888000001000
	default:
		first, step = 1, 1
	}
	return first + w.n*step, step
}

// bounds are those of times, by which row groups are read in their order.
func (w *bombWriter) bounds(c *schema.Column, first, step int64) (low, high []byte) {
	if c.Name != "ts_ns" {
		return nil, nil
	}
	last := first + int64(w.rows-1)*step
	return binary.LittleEndian.AppendUint64(nil, uint64(first)), binary.LittleEndian.AppendUint64(nil, uint64(last))
}

// delta is numbers in DELTA_BINARY_PACKED: a number for each block.
func (w *bombWriter) delta(n int, first, step int64) []byte {
	const block = 1 << 16
	b := binary.AppendUvarint(nil, block)
	b = binary.AppendUvarint(append(b, 1), uint64(n))
	b = binary.AppendVarint(b, first)
	for at := 1; at < n; at += block {
		b = append(binary.AppendVarint(b, step), 0)
	}
	return b
}

// named writes one string for all rows.
func (w *bombWriter) named(m *format.ColumnMetaData, name string) {
	dict := append(binary.LittleEndian.AppendUint32(nil, uint32(len(name))), name...)
	h := format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: int32(len(dict)), CompressedPageSize: int32(len(dict))}
	h.DictionaryPageHeader.V, h.DictionaryPageHeader.Valid = format.DictionaryPageHeader{NumValues: 1}, true
	w.out = append(append(w.out, w.thrift(&h)...), dict...)
	m.DataPageOffset = int64(len(w.out))
	w.page(m, format.RLEDictionary, w.rows, w.rows, append(binary.AppendUvarint([]byte{1}, uint64(w.rows)<<1), 0))
}

// texts writes strings that no row before has: in each page they grow by the same step.
func (w *bombWriter) texts(m *format.ColumnMetaData) {
	perPage := max(1, w.text/w.grow)
	for at := 0; at < w.rows; at += perPage {
		n := min(perPage, w.rows-at)
		bytes := fmt.Appendf(nil, "%011d.", w.n+int64(at))
		bytes = append(bytes, strings.Repeat("a", n*w.grow-len(bytes))...)
		w.page(m, format.DeltaByteArray, n, n, slices.Concat(w.delta(n, 0, int64(w.grow)), w.delta(n, int64(w.grow), 0), bytes))
	}
}

// page writes a data page; compressed if its column is.
func (w *bombWriter) page(m *format.ColumnMetaData, e format.Encoding, n, values int, body []byte) {
	level := byte(0)
	if values > 0 {
		level = 1
	}
	levels := append(binary.AppendUvarint(nil, uint64(n)<<1), level)
	raw := append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...), body...)
	packed := raw
	if m.Codec == format.Zstd {
		packed = w.zip.EncodeAll(raw, nil)
	}
	h := format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(len(raw)), CompressedPageSize: int32(len(packed))}
	h.DataPageHeader.V, h.DataPageHeader.Valid = format.DataPageHeader{NumValues: int32(n), Encoding: e, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}, true
	m.TotalUncompressedSize += int64(len(raw))
	w.out = append(append(w.out, w.thrift(&h)...), packed...)
}
