package render

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"

	"netrec/analyze/words"
)

const (
	screenLines = 40 // of a terminal that does not say how many it has
	leastLines  = 6  // of each table, however many tables there are
	csvLines    = 5  // of a table that is meant for a file
)

// screenWriter is text on a terminal. Tables that are complete before they are shown come first, then
// those that took rows while the recording was read: lists. Both are cut to what the screen has room
// for, and say how many rows were left out.
type screenWriter struct {
	*textWriter // into buf
	buf         bytes.Buffer
	to          *bufio.Writer
	lines       int // of the screen
	finishing   bool
	parts       []*part
}

// part is what the screen may have of a table.
type part struct {
	list        bool
	biggestLast bool // maps of bpftrace: the last entries matter most
	csv         bool
	gap         bool // a blank line after it
	head        []byte
	failed      []piece // come first
	rows        []piece
	foot        []byte
	left        int64 // rows without a piece
}

// piece is the text of a row, or of a histogram.
type piece struct {
	text  []byte
	lines int
}

func newScreenWriter(to *bufio.Writer, name string, style Style, term Terminal) *screenWriter {
	w := &screenWriter{to: to, lines: term.Height}
	if w.lines <= 0 {
		w.lines = screenLines
	}
	w.textWriter = &textWriter{out: bufio.NewWriter(&w.buf), name: name, style: style, term: term}
	return w
}

// take is what was written since the last time.
func (w *screenWriter) take() []byte {
	_ = w.out.Flush() // a buffer takes everything
	b := slices.Clone(w.buf.Bytes())
	w.buf.Reset()
	return b
}

func (w *screenWriter) table(t *Table) {
	w.gap = false
	w.textWriter.table(t)
	w.parts = append(w.parts, &part{list: !w.finishing, biggestLast: t.Look >= MapCount, csv: t.Look == CSV, gap: w.gap, head: w.take()})
}

func (w *screenWriter) row(t *Table) {
	p := w.parts[len(w.parts)-1]
	failed := t.failed()
	if !p.biggestLast && (failed && len(p.failed) >= w.lines || !failed && len(p.rows) >= w.lines) {
		p.left++
		return
	}
	w.textWriter.row(t)
	p.add(w.take(), failed, w.lines)
}

// add keeps the text of a row. Of maps the last ones stay.
func (p *part) add(text []byte, failed bool, most int) {
	if len(text) == 0 {
		return
	}
	k := piece{text, bytes.Count(text, []byte("\n"))}
	if failed {
		p.failed = append(p.failed, k)
		return
	}
	if p.rows = append(p.rows, k); len(p.rows) > most {
		p.rows, p.left = p.rows[1:], p.left+1
	}
}

func (w *screenWriter) done(t *Table) {
	p := w.parts[len(w.parts)-1]
	if t.Look == MapHist {
		w.textWriter.flushHist(t)
		p.add(w.take(), false, w.lines)
	}
	w.textWriter.done(t)
	p.foot = w.take()
}

func (w *screenWriter) end(notes []string) {
	parts := w.ordered()
	room := w.lines - 3 - len(notes) // a limit, the prompt, and one for luck
	for i, p := range parts {
		most := max(room-leastLines*(len(parts)-i-1), leastLines)
		room -= w.show(p, most)
		if p.gap && i < len(parts)-1 {
			w.to.WriteByte('\n')
		}
	}
	w.comments(w.to, notes)
}

// ordered are the parts, lists last.
func (w *screenWriter) ordered() (parts []*part) {
	for _, list := range []bool{false, true} {
		for _, p := range w.parts {
			if p.list == list {
				parts = append(parts, p)
			}
		}
	}
	return parts
}

// show writes at most so many lines of a part, if its rows allow that, and returns how many.
func (w *screenWriter) show(p *part, most int) (lines int) {
	if p.csv {
		most = csvLines
	}
	if rows := slices.Concat(p.failed, p.rows); p.left == 0 && height(rows) <= most {
		w.put(p.head, rows, p.foot)
		return height(rows) + bytes.Count(p.head, []byte("\n"))
	}
	w.to.Write(p.head)
	kept, before := p.fitting(max(most-2, 1))
	if before {
		w.leftOut(p, "smaller ones", len(kept))
	}
	w.put(nil, kept, p.foot)
	if !before {
		w.leftOut(p, "more", len(kept))
	}
	return height(kept) + 1 + bytes.Count(p.head, []byte("\n"))
}

// fitting are the rows that so many lines have room for, one at least; before, if those left out
// come before them.
func (p *part) fitting(lines int) (kept []piece, before bool) {
	rows := slices.Concat(p.failed, p.rows)
	if p.biggestLast {
		slices.Reverse(rows)
	}
	for i, k := range rows {
		if k.lines > lines && i > 0 {
			break
		}
		k = k.within(max(lines, leastLines))
		lines -= k.lines
		kept = append(kept, k)
	}
	if p.biggestLast {
		slices.Reverse(kept)
	}
	return kept, p.biggestLast
}

// within is a piece of at most so many lines. A histogram by stack loses frames before it loses bars: first
// the outer ones, which programs share.
func (k piece) within(most int) piece {
	if k.lines <= most {
		return k
	}
	lines := bytes.SplitAfter(k.text, []byte("\n"))[:k.lines]
	bar := slices.IndexFunc(lines, func(l []byte) bool { return bytes.HasSuffix(l, []byte("|\n")) })
	key := max(1, bar-1) // its last line stays with the bars
	if frames := min(k.lines-most+1, key-1); frames > 1 {
		lines = slices.Concat(lines[:key-frames], [][]byte{without(frames)}, lines[key:])
	}
	if gone := len(lines) - most + 1; gone > 1 {
		lines = append(lines[:most-1:most-1], without(gone))
	}
	return piece{bytes.Join(lines, nil), len(lines)}
}

// without stands for lines that are left out.
func without(lines int) []byte {
	return fmt.Appendf(nil, "    … %s: --all shows them\n", words.Plural(int64(lines), "line", "lines"))
}

func height(rows []piece) (n int) {
	for _, k := range rows {
		n += k.lines
	}
	return n
}

func (w *screenWriter) put(head []byte, rows []piece, foot []byte) {
	w.to.Write(head)
	for _, k := range rows {
		w.to.Write(k.text)
	}
	w.to.Write(foot)
}

// leftOut says how many rows the screen does not have, and what shows them.
func (w *screenWriter) leftOut(p *part, what string, shown int) {
	n := p.left + int64(len(p.failed)+len(p.rows)-shown)
	if n == 0 {
		return // a part of the only one
	}
	line := fmt.Sprintf("… %s %s: --all shows them", words.Thousands(n), what)
	if p.csv {
		line = fmt.Sprintf("… %s more rows of CSV: for a file, add > FILE.csv; --all shows them here", words.Thousands(n))
	}
	w.to.Write(append(w.term.paint([]byte(line), 0, Faint), '\n'))
}
