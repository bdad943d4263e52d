package render

import (
	"bufio"
	"io"
	"unicode/utf8"
)

// comments writes limits and notes, each as one line.
func comments(w io.Writer, name string, lines []string) {
	var b []byte
	for _, l := range lines {
		b = append(b[:0], "# "...)
		b = append(AppendSafe(append(b, name...), ": "+l), '\n')
		w.Write(b)
	}
}

// textWriter shows tables to people.
type textWriter struct {
	out   *bufio.Writer
	style Style
	name  string
	gap   bool // the table before needs a blank line after it
	buf   []byte
	hist  hist
}

func (w *textWriter) begin(a *Answer, limits []string) {
	w.name = a.Name
	comments(w.out, a.Name, limits)
}

func (w *textWriter) table(t *Table) {
	if w.gap {
		w.out.WriteByte('\n')
	}
	w.gap = t.Look < MapCount && t.Look != Record
	if t.Title != "" {
		w.buf = append(AppendSafe(w.buf[:0], t.Title), '\n')
		w.out.Write(w.buf)
	}
	switch t.Look {
	case Columns:
		w.heading(t)
	case CSV:
		writeCSVHeader(w.out, t)
	case MapHist:
		w.hist = hist{}
	}
}

func (w *textWriter) heading(t *Table) {
	b, first := w.buf[:0], true
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.head == "" {
			continue
		}
		if !first {
			b = append(b, c.sep...)
		}
		first = false
		at := len(b)
		b = pad(append(b, c.head...), at, t.width(i))
	}
	w.write(b)
}

func (w *textWriter) row(t *Table) {
	switch t.Look {
	case CSV:
		w.buf = writeCSVRow(w.out, t, w.buf[:0])
	case Record:
		w.record(t)
	case MapCount, MapStats:
		w.entry(t)
	case MapHist:
		w.bucket(t)
	default:
		w.line(t)
	}
}

func (w *textWriter) line(t *Table) {
	b, first := w.buf[:0], true
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.head == "" {
			continue
		}
		if !first {
			b = append(b, c.sep...)
		}
		first = false
		at := len(b)
		b = appendPlain(b, c, &t.cells[i], true)
		if c.cut {
			b = b[:at+runes(b[at:], max(c.width, -c.width))]
		}
		b = pad(b, at, t.width(i))
	}
	w.write(b)
}

// width is the width of a column, none for a left-aligned one at the end.
func (t *Table) width(i int) int {
	if i == t.end {
		return max(t.Columns[i].width, 0)
	}
	return t.Columns[i].width
}

// record shows a row as a block: its first column as heading, the others that
// have a value as lines below.
func (w *textWriter) record(t *Table) {
	b := w.buf[:0]
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.head == "" || t.cells[i].Null {
			continue
		}
		if i > 0 {
			b = append(b, "  "...)
		}
		at := len(b)
		b = pad(append(b, c.head...), at, c.width)
		b = append(b, ' ')
		b = append(appendPlain(b, c, &t.cells[i], true), '\n')
	}
	w.write(b)
}

func (w *textWriter) write(b []byte) {
	w.buf = append(b, '\n')
	w.out.Write(w.buf)
}

func (w *textWriter) done(t *Table) {
	switch t.Look {
	case MapHist:
		w.flushHist(t)
	case MapCount, MapStats:
		w.out.WriteByte('\n')
	}
}

func (w *textWriter) end(notes []string) { comments(w.out, w.name, notes) }

// pad fills b[at:] with spaces up to the width; negative is left-aligned.
func pad(b []byte, at, width int) []byte {
	n := max(width, -width) - utf8.RuneCount(b[at:])
	if n <= 0 {
		return b
	}
	for range n {
		b = append(b, ' ')
	}
	if width > 0 {
		copy(b[at+n:], b[at:len(b)-n])
		for i := range n {
			b[at+i] = ' '
		}
	}
	return b
}

// runes is the length in bytes of the first n runes.
func runes(b []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(b); n-- {
		_, size := utf8.DecodeRune(b[i:])
		i += size
	}
	return i
}
