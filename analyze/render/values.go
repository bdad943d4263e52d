package render

import (
	"bufio"
	"bytes"
	"io"
)

// Taker takes answers as values, as they come; either function may be nil.
type Taker struct {
	Said func(analysis, sentence string) // what limits an answer, and its notes
	Row  func(*Table)                    // a row, which Word reads until the function returns
}

// NewValues hands answers on instead of writing them: for what goes on with them itself.
func NewValues(to Taker) *Output {
	return &Output{format: "values", out: bufio.NewWriter(io.Discard), taker: to}
}

// valuesWriter is the format of NewValues.
type valuesWriter struct {
	title string
	to    Taker
}

func (w *valuesWriter) begin(_ *Answer, _ *bytes.Buffer, limits []string) { w.say(limits) }
func (w *valuesWriter) table(*Table)                                      {}
func (w *valuesWriter) done(*Table)                                       {}
func (w *valuesWriter) end(notes []string)                                { w.say(notes) }

func (w *valuesWriter) row(t *Table) {
	if w.to.Row != nil {
		w.to.Row(t)
	}
}

func (w *valuesWriter) say(sentences []string) {
	if w.to.Said == nil {
		return
	}
	for _, s := range sentences {
		w.to.Said(w.title, Safe(s))
	}
}

// Word is the value that the row at hand has in a column, as text shows it; "" if it has none.
func (t *Table) Word(column string) string {
	for i := range t.columns {
		if c := &t.columns[i]; c.Name == column {
			return string(appendPlain(nil, c, &t.cells[i], true))
		}
	}
	return ""
}
