package render

import "strings"

// Kind is the type of a column's values and how they are written.
type Kind uint8

// Kinds of columns. The cells of all but String and Stack are numbers.
const (
	Int    Kind = iota // a number
	Fixed              // a number with Decimals digits after the point, as an integer of that unit
	Addr               // a kernel address, 0xffff…
	Hex                // the same without 0x in text
	Clock              // Unix nanoseconds, already shifted to the zone; HH:MM:SS in text
	String             // untrusted bytes
	Stack              // a folded stack, outermost first
)

// Textual reports the kinds whose cells are strings.
func (k Kind) Textual() bool { return k == String || k == Stack }

// Column describes one column. Build it with Col.
type Column struct {
	Name     string // for programs: snake_case, with the unit where there is one
	Unit     string
	Kind     Kind
	Decimals int

	head     string // heading in text; "" hides the column there
	width    int    // as in printf: negative for left-aligned
	cut      bool   // text cuts values to the width
	sep      string // text before the column, one space unless set
	textOnly bool   // the column exists for people only
	tint     func(string) Tint
	fails    func(*Cell) bool
}

// Col is a column that only programs see, until Text gives it a heading.
func Col(name string, kind Kind) Column { return Column{Name: name, Kind: kind, sep: " "} }

// Text shows the column in text under a heading, padded to the width (left-aligned
// if negative).
func (c Column) Text(head string, width int) Column {
	c.head, c.width = head, width
	return c
}

// Cut makes text cut values to the width of the column.
func (c Column) Cut() Column { c.cut = true; return c }

// Sep replaces the space before the column in text.
func (c Column) Sep(s string) Column { c.sep = s; return c }

// In sets the unit.
func (c Column) In(unit string) Column { c.Unit = unit; return c }

// Digits sets how many digits after the point a Fixed column has.
func (c Column) Digits(n int) Column { c.Decimals = n; return c }

// ForPeople removes the column from all formats but text.
func (c Column) ForPeople() Column { c.textOnly = true; return c }

// Fails tells by the value of the column which rows are failures: on a screen that has no room for
// all rows, these come first.
func (c Column) Fails(f func(*Cell) bool) Column {
	c.fails = f
	return c
}

// FailedCall is Fails of a call's return value: an error that is more than "later" or "again".
func FailedCall(c *Cell) bool {
	switch ErrnoName(-c.Num) {
	case "EAGAIN", "EINTR", "EINPROGRESS", "EALREADY", "ERESTARTSYS":
		return false
	}
	return !c.Null && c.Num < 0
}

// FailedWord is Fails of a result in words that is the name of an error.
func FailedWord(c *Cell) bool {
	return len(c.Str) > 1 && c.Str[0] == 'E' && c.Str == strings.ToUpper(c.Str)
}

// Look is how text shows a table. Other formats do not differ.
type Look uint8

// Looks. The map looks expect Keys columns, then those named here; any after them
// are for programs.
const (
	Columns  Look = iota // heading and one line per row
	Lines                // the same without a heading
	CSV                  // comma-separated also in text
	Record               // one block per row, a line per column
	MapCount             // @name[key]: count
	MapStats             // @name[key]: count N, average A, total T
	MapHist              // @name[key]: and buckets; low and high are NULL where unbounded
	Samples              // kernel stack, user stack, process, pid and count, as a block
)

// Spec describes a table. Its columns are the fields that ListOf is given.
type Spec struct {
	Name    string // also the map's name in bpftrace's looks
	Unnamed bool   // bpftrace's looks show the map as @
	Title   string // a line above it in text; "" for none
	Foot    string // a line below it in text; "" for none
	Look    Look
	Data    bool // for programs: text shows it only if it is asked for by name
	Keys    int  // map looks: how many of the columns are the key

	columns []Column // those of the fields; ListOf sets them

	Delimited bool // Samples: a mark between the kernel's and the user's frames
	Annotated bool // Samples: kernel frames are marked as such

	// Sections makes text show the first column in a line of its own, above the
	// heading or the entries of a count map, whenever it changes.
	Sections bool
}
