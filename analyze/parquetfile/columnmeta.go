package parquetfile

import (
	"errors"
	"fmt"

	"netrec/analyze/words"
)

// Codecs that are decoded.
const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecZstd   = 6
)

var codecNames = [...]string{"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"}

// Encodings of Parquet. BIT_PACKED is allowed in lists only: some writers name
// it for repetition levels, which flat columns do not have.
const (
	encPlain           = 0
	encPlainDictionary = 2
	encRLE             = 3
	encBitPacked       = 4
	encDelta           = 5
	encDeltaLength     = 6
	encDeltaBytes      = 7
	encRLEDictionary   = 8
)

// columnMeta is a ColumnChunk with its ColumnMetaData. Slices are of the input.
type columnMeta struct {
	present            bool
	phys, codec        int32
	path               []byte
	nested             bool
	encodings          uint32 // bit per encoding
	values, raw, size  int64
	dataPage, dictPage int64
	bloom              int64
	min, max           []byte
	oldMin, oldMax     []byte // fields from before orders were defined; right for signed numbers
	nulls              int64  // -1 if not said
	inexact            bool
}

// parse reads a ColumnChunk.
func (m *columnMeta) parse(r *thrift) {
	for id, t := range r.fields() {
		switch id {
		case 1:
			if len(r.binary(t)) > 0 {
				r.fail(fmt.Errorf("%w: columns in other files", ErrUnsupport))
			}
		case 3:
			if r.want(t, tStruct) {
				m.parseMeta(r)
			}
		case 8, 9:
			r.fail(fmt.Errorf("%w: encryption", ErrUnsupport))
		default:
			r.skip(t, 0)
		}
	}
}

func (m *columnMeta) parseMeta(r *thrift) {
	m.present, m.nulls = true, -1
	for id, t := range r.fields() {
		switch id {
		case 1:
			m.phys = r.i32(t)
		case 2:
			m.parseEncodings(r, t)
		case 3:
			n := r.list(t, tBinary)
			m.nested = n != 1
			for ; n > 0 && r.err == nil; n-- {
				m.path = r.binary(tBinary)
			}
		case 4:
			m.codec = r.i32(t)
		case 5:
			m.values = r.i64(t)
		case 6:
			m.raw = r.i64(t)
		case 7:
			m.size = r.i64(t)
		case 9:
			m.dataPage = r.i64(t)
		case 11:
			m.dictPage = r.i64(t)
		case 12:
			if r.want(t, tStruct) {
				m.parseStatistics(r)
			}
		case 14:
			m.bloom = r.i64(t)
		default:
			r.skip(t, 0)
		}
	}
}

func (m *columnMeta) parseEncodings(r *thrift, t byte) {
	for n := r.list(t, tI32); n > 0 && r.err == nil; n-- {
		e := r.i32(tI32)
		if e < 0 || e > 31 {
			r.fail(fmt.Errorf("encoding %d", e))
			return
		}
		m.encodings |= 1 << e
	}
}

func (m *columnMeta) parseStatistics(r *thrift) {
	for id, t := range r.fields() {
		switch id {
		case 1:
			m.oldMax = r.binary(t)
		case 2:
			m.oldMin = r.binary(t)
		case 3:
			m.nulls = r.i64(t)
		case 5:
			m.max = r.binary(t)
		case 6:
			m.min = r.binary(t)
		case 7, 8:
			if !r.bool(t) {
				m.inexact = true
			}
		default:
			r.skip(t, 0)
		}
	}
}

const knownEncodings = 1<<encPlain | 1<<encPlainDictionary | 1<<encRLE | 1<<encBitPacked | 1<<encDelta | 1<<encDeltaLength |
	1<<encDeltaBytes | 1<<encRLEDictionary

// check compares the column with the schema, the row group and the limits.
func (m *columnMeta) check(g *Group, l *Leaf, t *Table) error {
	switch {
	case !m.present:
		return errors.New("no metadata")
	case m.phys != int32(l.phys) || m.nested || string(m.path) != l.Name:
		return errors.New("not the column that the schema has in its place")
	case m.codec != codecNone && m.codec != codecSnappy && m.codec != codecGzip && m.codec != codecZstd:
		name := fmt.Sprintf("codec %d", m.codec)
		if m.codec > 0 && int(m.codec) < len(codecNames) {
			name = "codec " + codecNames[m.codec]
		}
		return fmt.Errorf("%w: %s", ErrUnsupport, name)
	case m.encodings&^knownEncodings != 0:
		return fmt.Errorf("%w: encodings %#x", ErrUnsupport, m.encodings&^knownEncodings)
	case m.values != int64(g.Rows):
		return fmt.Errorf("%s in a row group of %s", words.Count(m.values, "value"), words.Thousands(int64(g.Rows)))
	case m.size > t.Limits.Chunk || m.raw > t.Limits.Chunk:
		return TooLarge("bytes of a column chunk", max(m.size, m.raw), t.Limits.Chunk)
	case m.size <= 0 || m.raw <= 0:
		return errors.New("no bytes")
	case m.nulls < -1 || m.nulls > m.values || m.nulls > 0 && !l.Optional:
		return fmt.Errorf("%s among %s", words.Count(m.nulls, "NULL"), words.Count(m.values, "value"))
	case m.bloom < 0:
		return errors.New("filter outside of the file")
	}
	return nil
}
