package render

import "bufio"

// Answer is what one analysis says: limits, tables, notes.
type Answer struct {
	Name string

	w     writer
	out   *bufio.Writer
	spool *spool
	first bool // of the output
	from  Origin
	heads bool // the first answer about it
	last  *Table
	rows  int64
	notes []string
}

// Begin states what limits the answer. It comes before any row.
func (a *Answer) Begin(limits []string) { a.w.begin(a, limits) }

// Table adds a table. It appears with its first row; tables that take rows at the
// same time are a mistake of the analysis, and panic.
func (a *Answer) Table(s Spec) *Table {
	own := len(s.Columns)
	s.Columns = append(s.Columns[:own:own], a.from.columns()...)
	t := &Table{Spec: s, a: a, cells: append(make([]Cell, own), a.from.cells()...), own: own}
	for i := range s.Columns {
		if !t.aside(i) {
			t.end = i
		}
	}
	return t
}

func (a *Answer) show(t *Table) {
	if a.last == t {
		return
	}
	if t.open {
		panic("render: table " + t.Name + ": rows after another table began")
	}
	a.finishLast()
	a.last, t.open = t, true
	a.w.table(t)
}

func (a *Answer) finishLast() {
	if a.last != nil {
		a.w.done(a.last)
		a.last = nil
	}
}

// Header shows the table even if it will have no row, in the formats for programs:
// a CSV file without rows still says what its columns are.
func (a *Answer) Header(t *Table) {
	if _, text := a.w.(*textWriter); !text && !t.open {
		a.show(t)
	}
}

// Rows is how many rows all tables of the answer have.
func (a *Answer) Rows() int64 { return a.rows }

// Note adds a sentence that follows the answer.
func (a *Answer) Note(s string) { a.notes = append(a.notes, s) }

// End completes the answer.
func (a *Answer) End() {
	a.finishLast()
	a.w.end(a.notes)
}
