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

	head
	choice
	screen
}

// Table adds a table, for ListOf. It appears with its first row; tables that take rows at the
// same time are a mistake of the analysis, and panic.
func (a *Answer) Table(s Spec) *Table {
	own := len(s.columns)
	s.columns = append(s.columns[:own:own], a.from.columns()...)
	t := &Table{Spec: s, a: a, cells: append(make([]Cell, own), a.from.cells()...)}
	for i := range s.columns {
		if !t.aside(i) {
			t.end = i
		}
	}
	a.tables = append(a.tables, t)
	return t
}

// show makes t the table that takes rows, and reports whether it is one that was chosen.
func (a *Answer) show(t *Table) bool {
	if a.last == t {
		return true
	}
	if !a.wants(t) {
		return false
	}
	if t.open {
		panic("render: table " + t.Name + ": rows after another table began")
	}
	a.finishLast()
	a.last, t.open = t, true
	a.w.table(t)
	return true
}

func (a *Answer) finishLast() {
	if a.last != nil {
		a.w.done(a.last)
		a.last = nil
	}
}

// Header shows a table without rows, the first that is chosen, in the formats for programs:
// a CSV file without rows still says what its columns are.
func (a *Answer) Header() {
	if a.text {
		return
	}
	for _, t := range a.tables {
		if !t.open && a.show(t) {
			return
		}
	}
}

// Rows is how many rows all tables of the answer have.
func (a *Answer) Rows() int64 { return a.rows }

// Whole says, before the first table, that somebody chose how many rows there are: none is cut to
// fit a screen.
func (a *Answer) Whole() {
	if w, ok := a.w.(*screenWriter); ok {
		w.out = w.to
		a.w = w.textWriter
	}
}

// Finishing says that no further row is read: tables that begin now are complete at once.
func (a *Answer) Finishing() {
	if w, ok := a.w.(*screenWriter); ok {
		w.finishing = true
	}
}

// Note adds a sentence that follows the answer.
func (a *Answer) Note(s string) { a.notes = append(a.notes, s) }

// End completes the answer.
func (a *Answer) End() {
	if a.csv && a.rows > 0 && a.last == nil && a.single == nil {
		a.Header() // the main table has no row, others have
	}
	a.finishLast()
	late := a.settle(a)
	if s := a.others(); s != "" {
		a.notes = append(a.notes, s)
	}
	a.w.end(append(late, a.notes...))
}
