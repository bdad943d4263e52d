package export

import (
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"netrec/analyze/scan"
	"netrec/schema"
)

// A record batch ends at either: rows, so that readers start early, and bytes of
// strings, of which a hostile file may have any number.
const (
	batchRows = 16 << 10
	batchText = 16 << 20
)

// Arrow writes rows as one Arrow IPC stream in the order of time, with the columns and
// types of the capture; only these events, nil for all. The error is a *scan.Full if that is
// what ended the rows.
func Arrow(src scan.Source, events []string, w io.Writer) error {
	s := arrowSchema(src.Meta())
	e := &arrowRows{out: ipc.NewWriter(w, ipc.WithSchema(s)), rec: array.NewRecordBuilder(memory.DefaultAllocator, s)}
	defer e.rec.Release()
	full, err := scan.Fitted(src.Scan(scan.Query{Events: events}, e.row))
	if err != nil {
		return err
	}
	if err := e.flush(); err != nil {
		return err
	}
	if err := e.out.Close(); err != nil {
		return err
	}
	return full.Err()
}

func arrowSchema(m *scan.Meta) *arrow.Schema {
	fields := make([]arrow.Field, len(schema.Columns))
	for i, c := range schema.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: arrowType(c.Type), Nullable: !c.Required}
		if c.Unit != "" {
			fields[i].Metadata = arrow.NewMetadata([]string{"unit"}, []string{c.Unit})
		}
	}
	meta := arrow.NewMetadata([]string{"netrec.host.name", "netrec.host.kernel", "netrec.version"},
		[]string{valid(m.Host.Name), valid(m.Host.Kernel), valid(m.Version)})
	return arrow.NewSchema(fields, &meta)
}

func arrowType(t schema.Type) arrow.DataType {
	switch t {
	case schema.Int32:
		return arrow.PrimitiveTypes.Int32
	case schema.Int64:
		return arrow.PrimitiveTypes.Int64
	case schema.Uint64:
		return arrow.PrimitiveTypes.Uint64
	case schema.Micros:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	}
	return arrow.BinaryTypes.String
}

// valid is a string as Arrow demands it: a capture of another program may hold any bytes.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// arrowRows turns rows into record batches.
type arrowRows struct {
	out  *ipc.Writer
	rec  *array.RecordBuilder
	rows int
	text int
}

func (e *arrowRows) row(r *scan.Row) error {
	for i := range schema.Columns {
		c := scan.Col(i)
		b := e.rec.Field(i)
		if !r.HasAt(c) {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.Int32Builder:
			b.Append(int32(r.Int(scan.IntAt(c))))
		case *array.Int64Builder:
			b.Append(r.Int(scan.IntAt(c)))
		case *array.Uint64Builder:
			b.Append(r.Uint(scan.IntAt(c)))
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(r.Int(scan.IntAt(c))))
		case *array.StringBuilder:
			s := valid(r.Str(scan.StrAt(c)))
			b.Append(s)
			e.text += len(s)
		}
	}
	if e.rows++; e.rows < batchRows && e.text < batchText {
		return nil
	}
	return e.flush()
}

func (e *arrowRows) flush() error {
	if e.rows == 0 {
		return nil
	}
	rec := e.rec.NewRecord()
	defer rec.Release()
	e.rows, e.text = 0, 0
	if err := e.out.Write(rec); err != nil {
		return fmt.Errorf("write a batch of rows: %w", err)
	}
	return nil
}
