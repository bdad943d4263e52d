package render

import (
	"slices"
	"unicode/utf8"
)

// Terminal is what text may do where people read it on one. The zero value is for files
// and pipes: lines as long as they are, and no colours.
type Terminal struct {
	Width  int  // lines of tables are cut to it; 0 cuts none
	Height int  // lines; 0 where that is not known
	Color  bool // headings and what is marked have colours
	Cuts   bool // tables are cut to the height
}

// On makes answers that follow fit a terminal. Formats other than text do not change.
func (o *Output) On(t Terminal) { o.term = t }

// Tint is the look of a piece of text on a terminal with colours.
type Tint string

// Tints.
const (
	Plain  Tint = ""
	Strong Tint = "1"
	Faint  Tint = "2"
	Red    Tint = "1;31"
	Yellow Tint = "1;33"
	Blue   Tint = "1;34"
)

// Tinted gives the values of a column a look that depends on them: of any column in the Record
// look, of the first in lines.
func (c Column) Tinted(of func(value string) Tint) Column {
	c.tint = of
	return c
}

// paint puts b[at:] in a tint.
func (t Terminal) paint(b []byte, at int, tint Tint) []byte {
	if !t.Color || tint == Plain || at == len(b) {
		return b
	}
	text := string(b[at:])
	b = append(b[:at], "\x1b["...)
	b = append(append(b, tint...), 'm')
	return append(append(b, text...), "\x1b[0m"...)
}

// tinted puts the first cell of a line in its tint.
func (w *textWriter) tinted(t *Table, line []byte) []byte {
	c := &t.columns[0]
	if c.tint == nil || !w.term.Color {
		return line
	}
	n := runes(line, max(c.width, -c.width))
	return append(w.term.paint(slices.Clone(line[:n]), 0, c.tint(t.cells[0].Str)), line[n:]...)
}

// fit cuts a line that is longer than the terminal is wide.
func (t Terminal) fit(b []byte) []byte {
	if t.Width <= 0 || utf8.RuneCount(b) <= t.Width {
		return b
	}
	return append(b[:runes(b, t.Width-1)], "…"...)
}
