package render

// Field is a column of a table whose rows are of type T, together with how its value is taken
// from a row: name, type, look and getter are one declaration.
type Field[T any] struct {
	Column
	cell func(*T) Cell
}

// Num is a number.
func Num[T any](name string, of func(*T) int64) Field[T] {
	return Field[T]{Col(name, Int), func(row *T) Cell { return Cell{Num: of(row)} }}
}

// NumOr is a number that not every row has.
func NumOr[T any](name string, of func(*T) (v int64, ok bool)) Field[T] {
	return Field[T]{Col(name, Int), func(row *T) Cell {
		v, ok := of(row)
		return Cell{Num: v, Null: !ok}
	}}
}

// NonZero is a number that a row does not have where it is 0.
func NonZero[T any](name string, of func(*T) int64) Field[T] {
	return NumOr(name, func(row *T) (int64, bool) { v := of(row); return v, v != 0 })
}

// Flag is 1 where something holds, else 0.
func Flag[T any](name string, of func(*T) bool) Field[T] {
	return Num(name, func(row *T) int64 {
		if of(row) {
			return 1
		}
		return 0
	})
}

// Text is a string.
func Text[T any](name string, of func(*T) string) Field[T] {
	return Field[T]{Col(name, String), func(row *T) Cell { return Cell{Str: of(row)} }}
}

// TextOr is a string that a row does not have where it is empty.
func TextOr[T any](name string, of func(*T) string) Field[T] {
	return Field[T]{Col(name, String), func(row *T) Cell { s := of(row); return Cell{Str: s, Null: s == ""} }}
}

// Address is a kernel address.
func Address[T any](name string, of func(*T) uint64) Field[T] {
	return Num(name, func(row *T) int64 { return int64(of(row)) }).As(Addr)
}

// Of is a column whose cells are taken as they are: for columns that are known only when the table is made.
func Of[T any](name string, kind Kind, of func(*T) Cell) Field[T] {
	return Field[T]{Col(name, kind), of}
}

// Cell is the value of the column in a row.
func (f *Field[T]) Cell(row *T) Cell { return f.cell(row) }

// As gives the values of the column another kind.
func (f Field[T]) As(k Kind) Field[T] { f.Kind = k; return f }

// Text shows the column in text under a heading; see Column.
func (f Field[T]) Text(head string, width int) Field[T] {
	f.Column = f.Column.Text(head, width)
	return f
}

// TextIf is Text where text is to show the column at all.
func (f Field[T]) TextIf(shown bool, head string, width int) Field[T] {
	if !shown {
		return f
	}
	return f.Text(head, width)
}

// Cut makes text cut values to the width of the column.
func (f Field[T]) Cut() Field[T] { f.Column = f.Column.Cut(); return f }

// Sep sets what text has between the column and the one before it.
func (f Field[T]) Sep(s string) Field[T] { f.Column = f.Column.Sep(s); return f }

// In sets the unit.
func (f Field[T]) In(unit string) Field[T] { f.Unit = unit; return f }

// Digits sets how many digits after the point a Fixed column has.
func (f Field[T]) Digits(n int) Field[T] { f.Decimals = n; return f }

// Fails says which values mean that something went wrong; see Column.
func (f Field[T]) Fails(failed func(*Cell) bool) Field[T] {
	f.Column = f.Column.Fails(failed)
	return f
}

// Tinted gives the values of the column a look that depends on them; see Column.
func (f Field[T]) Tinted(of func(value string) Tint) Field[T] {
	f.Column = f.Column.Tinted(of)
	return f
}

// ForPeople removes the column from all formats but text.
func (f Field[T]) ForPeople() Field[T] { f.Column = f.Column.ForPeople(); return f }

// Within makes fields of a part of a row fields of the row.
func Within[T, P any](part func(*T) *P, fields ...Field[P]) []Field[T] {
	return WithinOr(func(row *T) (*P, bool) { return part(row), true }, fields...)
}

// WithinOr is Within for a part that not every row has.
func WithinOr[T, P any](part func(*T) (p *P, ok bool), fields ...Field[P]) []Field[T] {
	fs := make([]Field[T], len(fields))
	for i, f := range fields {
		fs[i] = Field[T]{f.Column, func(row *T) Cell {
			p, ok := part(row)
			if !ok {
				return Cell{Null: true}
			}
			return f.cell(p)
		}}
	}
	return fs
}

// List is a table whose columns are the fields of its rows.
type List[T any] struct {
	*Table
	fields []Field[T]
	row    T // that Line writes
}

// ListOf makes the list; table is engine.Input.Table or Answer.Table.
func ListOf[T any](table func(Spec) *Table, s Spec, fields ...Field[T]) *List[T] {
	for i := range fields {
		s.columns = append(s.columns, fields[i].Column)
	}
	return &List[T]{Table: table(s), fields: fields}
}

// Line writes a row that is made for it, and allocates nothing.
func (l *List[T]) Line(row T) {
	l.row = row
	l.Add(&l.row)
}

// Add writes a row.
func (l *List[T]) Add(row *T) {
	for i := range l.fields {
		l.cells[i] = l.fields[i].cell(row)
	}
	l.ended()
}
