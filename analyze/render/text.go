package render

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// comments writes limits and notes, each as one line.
func comments(w io.Writer, name string, lines []string) {
	var b []byte
	for _, l := range lines {
		b = append(AppendSafe(append(b[:0], "# "...), name+": "+l), '\n')
		w.Write(b)
	}
}

// textWriter shows tables to people.
type textWriter struct {
	out   *bufio.Writer
	style Style
	term  Terminal
	name  string
	gap   bool // the table before needs a blank line after it
	buf   []byte
	hist  hist
	head  Cell // of the section that rows belong to
}

func (w *textWriter) begin(a *Answer, head *bytes.Buffer, limits []string) {
	if a.heads {
		head.Write(a.from.appendHeading(nil))
	}
	w.comments(head, a.screen.cut(limits))
}

// comments are faint on a terminal: they are about the answer, not in it.
func (w *textWriter) comments(to io.Writer, lines []string) {
	var b []byte
	for _, l := range lines {
		b = AppendSafe(append(append(b[:0], "# "...), w.name...), ": "+l)
		b = append(w.term.paint(b, 0, Faint), '\n')
		to.Write(b)
	}
}

func (w *textWriter) table(t *Table) {
	if w.gap {
		w.out.WriteByte('\n')
	}
	w.gap = t.Look < MapCount && t.Look != Record
	if t.Title != "" {
		w.write(w.term.paint(AppendSafe(w.buf[:0], t.Title), 0, Strong))
	}
	switch t.Look {
	case Columns:
		if w.head = (Cell{Null: true}); !t.Sections {
			w.heading(t)
		}
	case CSV:
		writeCSVHeader(w.out, t)
	case MapHist:
		w.hist = hist{}
	case MapCount:
		if w.head = (Cell{Null: true}); w.style == BCC {
			w.bccHeading(t)
		}
	case Samples:
		w.out.WriteByte('\n')
	}
}

// section starts another one where the first column changes: its value in a line of its
// own, and the heading again.
func (w *textWriter) section(t *Table) {
	if w.head == t.cells[0] {
		return
	}
	if !w.head.Null {
		w.out.WriteByte('\n')
	}
	w.head = t.cells[0]
	w.write(appendPlain(w.buf[:0], &t.columns[0], &t.cells[0], true))
	if t.Look == Columns {
		w.heading(t)
	}
}

// aside reports columns that a line does not have: those that people do not see, the
// name of the section, and stacks, which come below it.
func (t *Table) aside(i int) bool {
	return t.columns[i].head == "" || t.Sections && i == 0 || t.columns[i].Kind == Stack
}

func (w *textWriter) heading(t *Table) {
	b, first := w.buf[:0], true
	for i := range t.columns {
		c := &t.columns[i]
		if t.aside(i) {
			continue
		}
		if !first {
			b = append(b, c.sep...)
		}
		first = false
		at := len(b)
		b = pad(append(b, c.head...), at, t.width(i))
	}
	w.write(w.term.paint(w.term.fit(b), 0, Strong))
}

func (w *textWriter) row(t *Table) {
	switch t.Look {
	case CSV:
		w.buf = writeCSVRow(w.out, t, w.buf[:0])
	case Record:
		w.record(t)
	case MapCount:
		if t.Sections {
			w.section(t)
		}
		w.count(t)
	case MapStats:
		w.entry(t)
	case MapHist:
		w.bucket(t)
	case Samples:
		w.sample(t)
	default:
		w.line(t)
	}
}

func (w *textWriter) line(t *Table) {
	if t.Sections {
		w.section(t)
	}
	b, first := w.buf[:0], true
	for i := range t.columns {
		c := &t.columns[i]
		if t.aside(i) {
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
	w.write(w.tinted(t, w.term.fit(b)))
	for i := range t.columns {
		if t.columns[i].Kind == Stack && t.columns[i].head != "" {
			w.stack(t.cells[i].Str)
		}
	}
}

// stack shows a folded stack below its line, one frame per line and innermost first, and
// a blank line after it, as the BCC tools do.
func (w *textWriter) stack(folded string) {
	for folded != "" {
		i := strings.LastIndexByte(folded, ';')
		w.write(AppendSafe(append(w.buf[:0], '\t'), folded[i+1:]))
		folded = folded[:max(i, 0)]
	}
	w.write(w.buf[:0])
}

// width is the width of a column, none for a left-aligned one at the end.
func (t *Table) width(i int) int {
	if i == t.end {
		return max(t.columns[i].width, 0)
	}
	return t.columns[i].width
}

// record shows a row as a block: its first column as heading, the others that
// have a value as lines below.
func (w *textWriter) record(t *Table) {
	b := w.buf[:0]
	for i := range t.columns {
		c := &t.columns[i]
		if c.head == "" || t.cells[i].Null {
			continue
		}
		if i > 0 {
			b = append(b, "  "...)
		}
		at := len(b)
		b = pad(append(b, c.head...), at, c.width)
		tint := Faint
		if i == 0 {
			tint = Strong
		}
		b = append(w.term.paint(b, at, tint), ' ')
		at = len(b)
		if b = appendPlain(b, c, &t.cells[i], true); c.tint != nil {
			b = w.term.paint(b, at, c.tint(t.cells[i].Str))
		}
		b = append(b, '\n')
	}
	w.write(b)
}

func (w *textWriter) write(b []byte) {
	w.buf = append(b, '\n')
	w.out.Write(w.buf)
}

func (w *textWriter) done(t *Table) {
	if t.Foot != "" {
		w.write(AppendSafe(w.buf[:0], t.Foot))
	}
	switch t.Look {
	case MapHist:
		w.flushHist(t)
	case MapCount, MapStats:
		if w.style != BCC || stackKey(t) < 0 { // stacks have a blank line of their own
			w.out.WriteByte('\n')
		}
	}
}

func (w *textWriter) end(notes []string) { w.comments(w.out, notes) }

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
