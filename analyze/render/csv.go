package render

import (
	"bufio"
	"bytes"
	"io"
)

// csvWriter writes each table with a heading; a blank line separates tables.
type csvWriter struct {
	out   *bufio.Writer
	side  io.Writer
	title string
	more  bool
	buf   []byte
}

func (w *csvWriter) begin(_ *Answer, _ *bytes.Buffer, limits []string) {
	comments(w.side, w.title, limits)
}

func (w *csvWriter) table(t *Table) {
	if w.more {
		w.out.WriteByte('\n')
	}
	w.more = true
	writeCSVHeader(w.out, t)
}

func (w *csvWriter) row(t *Table)       { w.buf = writeCSVRow(w.out, t, w.buf[:0]) }
func (w *csvWriter) done(*Table)        {}
func (w *csvWriter) end(notes []string) { comments(w.side, w.title, notes) }

func writeCSVHeader(w io.Writer, t *Table) {
	var b []byte
	for i := range t.columns {
		if t.columns[i].textOnly {
			continue
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = append(b, t.columns[i].Name...)
	}
	w.Write(append(b, '\n'))
}

func writeCSVRow(w io.Writer, t *Table, b []byte) []byte {
	first := true
	for i := range t.columns {
		if t.columns[i].textOnly {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendPlain(b, &t.columns[i], &t.cells[i], false)
	}
	b = append(b, '\n')
	w.Write(b)
	return b
}
