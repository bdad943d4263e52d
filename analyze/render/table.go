package render

import "fmt"

// Cell is one value of a row.
type Cell struct {
	Num  int64
	Str  string
	Null bool
}

// Table takes rows, cell by cell in the order of the columns.
type Table struct {
	Spec
	a     *Answer
	cells []Cell
	own   int   // cells that the analysis fills; those after them tell where the row is from
	n     int   // cells of the row begun
	rows  int64 // rows ended
	open  bool  // the writer has been told of the table
	end   int   // the last column that text shows; nothing pads it on the right

	held    []Cell // rows of a table that waits for Show
	most    int    // how many it keeps; 0 for a table that does not wait
	Dropped int64  // rows beyond that
}

// Int sets the next cell to a number or address.
func (t *Table) Int(v int64) *Table { return t.put(Cell{Num: v}) }

// Uint sets the next cell to an address.
func (t *Table) Uint(v uint64) *Table { return t.put(Cell{Num: int64(v)}) }

// Str sets the next cell to a string.
func (t *Table) Str(s string) *Table { return t.put(Cell{Str: s}) }

// Null leaves the next n cells without a value.
func (t *Table) Null(n int) *Table {
	for range n {
		t.put(Cell{Null: true})
	}
	return t
}

// IntOr sets the next cell to v, or leaves it without a value if ok is false.
func (t *Table) IntOr(v int64, ok bool) *Table { return t.put(Cell{Num: v, Null: !ok}) }

// StrOr sets the next cell to s, or leaves it without a value if s is empty.
func (t *Table) StrOr(s string) *Table { return t.put(Cell{Str: s, Null: s == ""}) }

func (t *Table) put(c Cell) *Table {
	if t.n < t.own {
		t.cells[t.n] = c
	}
	t.n++
	return t
}

// End ends the row. A row with too few or too many cells is a mistake in the
// analysis and panics.
func (t *Table) End() {
	if t.n != t.own {
		panic(fmt.Sprintf("render: table %s: row of %d cells, table of %d columns", t.Name, t.n, t.own))
	}
	t.n = 0
	if t.most > 0 {
		if len(t.held) < t.most*len(t.cells) {
			t.held = append(t.held, t.cells...)
		} else {
			t.Dropped++
		}
		return
	}
	t.rows++
	t.a.rows++
	if t.a.show(t) {
		t.a.w.row(t)
	}
}

// failed reports whether the row at hand is a failure.
func (t *Table) failed() bool {
	for i := range t.Columns {
		if f := t.Columns[i].fails; f != nil && f(&t.cells[i]) {
			return true
		}
	}
	return false
}

// Begin shows the table even if it will have no row.
func (t *Table) Begin() { t.a.show(t) }

// Rows is how many rows the table has so far.
func (t *Table) Rows() int64 { return t.rows }

// Hold keeps the rows, at most so many, until Show: for a table that comes after
// one which is still taking rows.
func (t *Table) Hold(most int) *Table {
	t.most = most
	return t
}

// Show writes the rows that were held.
func (t *Table) Show() {
	t.most = 0
	for rest := t.held; len(rest) > 0; rest = rest[len(t.cells):] {
		copy(t.cells, rest)
		t.n = t.own
		t.End()
	}
	t.held = nil
}
