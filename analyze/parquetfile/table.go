package parquetfile

import "fmt"

// Table is what a caller knows of the files that it reads, and what it wants of them.
type Table struct {
	Limits Limits

	// Column gives a column its number, by which the caller asks for it, or -1 if nobody
	// will. An error refuses the file.
	Column func(*Leaf) (int, error)

	// Longest has the bytes that are kept of a string, by the number of its column. Longer
	// ones are cut when they are decoded, so that nobody keeps a million bytes for a name.
	Longest []int
}

// Limits are what a file may ask for at most. Row numbers and sizes of pages are 32 bits wide.
type Limits struct {
	Footer int64 // bytes of the footer
	Chunk  int64 // bytes of a column chunk, compressed or not
	Group  int64 // rows of a row group
	Groups int64 // row groups
	String int64 // bytes of a string
}

// number asks the caller about a column. What is none of the types that are decoded can have no
// number.
func (t *Table) number(l *Leaf) (err error) {
	l.Col, err = t.Column(l)
	if err == nil && l.Col >= 0 && !l.IsText() && !l.IsTime() && !l.IsInt() {
		err = fmt.Errorf("%w: column %s is %s", ErrUnsupport, l.Name, l.Type())
	}
	return err
}
