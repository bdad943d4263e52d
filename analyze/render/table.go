package render

// Cell is one value of a row.
type Cell struct {
	Num  int64
	Str  string
	Null bool
}

// Table shows rows. List is what puts them there.
type Table struct {
	Spec
	a     *Answer
	cells []Cell // of the row at hand; the last tell where it is from, if there are several recordings
	rows  int64  // rows ended
	open  bool   // the writer has been told of the table
	end   int    // the last column that text shows; nothing pads it on the right

	held    []Cell // rows of a table that waits for Show
	most    int    // how many it keeps; 0 for a table that does not wait
	Dropped int64  // rows beyond that
}

// ended writes the row at hand, or keeps it.
func (t *Table) ended() {
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
	for i := range t.columns {
		if f := t.columns[i].fails; f != nil && f(&t.cells[i]) {
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
		t.ended()
	}
	t.held = nil
}
