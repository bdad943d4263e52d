package render

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// A record batch ends at either: rows, and bytes of strings, of which a hostile file may have
// any number.
const (
	arrowBatch = 16 << 10
	arrowText  = 16 << 20
)

// arrowWriter writes each table as one Arrow IPC stream; several tables follow each
// other, so a reader opens the next stream where the one before it ended.
type arrowWriter struct {
	out   *bufio.Writer
	side  io.Writer
	name  string
	title string
	ipc   *ipc.Writer
	rec   *array.RecordBuilder
	rows  int
	text  int // bytes of strings in the batch
	err   error
}

func (w *arrowWriter) begin(_ *Answer, _ *bytes.Buffer, limits []string) {
	comments(w.side, w.title, limits)
}

func (w *arrowWriter) table(t *Table) {
	var fields []arrow.Field
	for i := range t.columns {
		c := &t.columns[i]
		if c.textOnly {
			continue
		}
		f := arrow.Field{Name: c.Name, Type: arrowType(c.Kind), Nullable: true}
		if c.Unit != "" {
			f.Metadata = arrow.NewMetadata([]string{"unit"}, []string{c.Unit})
		}
		fields = append(fields, f)
	}
	meta := arrow.NewMetadata([]string{"netrec.analysis", "netrec.table"}, []string{w.name, t.Name})
	schema := arrow.NewSchema(fields, &meta)
	w.ipc = ipc.NewWriter(w.out, ipc.WithSchema(schema))
	w.rec = array.NewRecordBuilder(memory.DefaultAllocator, schema)
}

func arrowType(k Kind) arrow.DataType {
	switch k {
	case String, Stack, Clock:
		return arrow.BinaryTypes.String
	case Fixed:
		return arrow.PrimitiveTypes.Float64
	case Addr, Hex:
		return arrow.PrimitiveTypes.Uint64
	}
	return arrow.PrimitiveTypes.Int64
}

func (w *arrowWriter) row(t *Table) {
	f := 0
	for i := range t.columns {
		c, v := &t.columns[i], &t.cells[i]
		if c.textOnly {
			continue
		}
		b := w.rec.Field(f)
		f++
		if v.Null {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.StringBuilder:
			if c.Kind == Clock {
				b.Append(string(appendPlain(nil, c, v, true)))
			} else {
				b.Append(strings.ToValidUTF8(v.Str, "\ufffd"))
				w.text += len(v.Str)
			}
		case *array.Float64Builder:
			b.Append(float64(v.Num) / math.Pow10(c.Decimals))
		case *array.Uint64Builder:
			b.Append(uint64(v.Num))
		case *array.Int64Builder:
			b.Append(v.Num)
		}
	}
	if w.rows++; w.rows == arrowBatch || w.text >= arrowText {
		w.flush()
	}
}

func (w *arrowWriter) flush() {
	rec := w.rec.NewRecord()
	defer rec.Release()
	if err := w.ipc.Write(rec); err != nil && w.err == nil {
		w.err = err
	}
	w.rows, w.text = 0, 0
}

func (w *arrowWriter) done(*Table) {
	if w.rows > 0 {
		w.flush()
	}
	w.rec.Release()
	if err := w.ipc.Close(); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *arrowWriter) end(notes []string) { comments(w.side, w.title, notes) }
