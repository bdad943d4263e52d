package scan

import (
	"slices"

	"netrec/schema"
)

// Columns are the columns that a reader of rows uses. Asking for a column is the only way to
// its handle, so that a scan cannot be told to leave one out that is read.
type Columns struct{ asked []Col }

// Ask is the handle of a column, and makes it one of those that are read.
func (c *Columns) Ask(name string) Col {
	col := Col(schema.ColumnIndex(name))
	if !slices.Contains(c.asked, col) {
		c.asked = append(c.asked, col)
	}
	return col
}

// All lists what was asked for.
func (c *Columns) All() []Col { return c.asked }
