package scan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"netrec/schema"
)

// Int is the handle of a number column. The zero is none: whoever reads by it panics at the
// first row, instead of reading another column.
type Int struct{ at Col }

// Str is the handle of a string column, its zero as that of Int.
type Str struct{ at Col }

// Col is the column's place in schema.Columns.
func (c Int) Col() Col { return c.at - 1 }

// Col is the column's place in schema.Columns.
func (c Str) Col() Col { return c.at - 1 }

// IntAt is the handle of a number column by its place, for those who take every column.
func IntAt(c Col) Int { return Int{c + 1} }

// StrAt is the handle of a string column by its place.
func StrAt(c Col) Str { return Str{c + 1} }

// MustInt is the handle of a number column, for those who list the columns of a Query
// themselves. There has to be one of that name and type.
func MustInt(name string) Int {
	c, err := new(Columns).Int(name)
	if err != nil {
		panic(err)
	}
	return c
}

// MustStr is the handle of a string column.
func MustStr(name string) Str {
	c, err := new(Columns).Str(name)
	if err != nil {
		panic(err)
	}
	return c
}

// Columns are the columns that a reader of rows uses. Asking for a column is the only way to
// its handle, so that a scan cannot be told to leave one out that is read.
type Columns struct{ asked []Col }

// Int asks for a number column.
func (c *Columns) Int(name string) (Int, error) {
	col, err := c.ask(name, false)
	return IntAt(col), err
}

// Str asks for a string column.
func (c *Columns) Str(name string) (Str, error) {
	col, err := c.ask(name, true)
	return StrAt(col), err
}

func (c *Columns) ask(name string, str bool) (Col, error) {
	i := schema.ColumnIndex(name)
	if i < 0 || (schema.Columns[i].Type == schema.String) != str {
		return -1, fmt.Errorf("no such column of that type: %s", name)
	}
	if col := Col(i); !slices.Contains(c.asked, col) {
		c.asked = append(c.asked, col)
	}
	return Col(i), nil
}

// Bind asks for the columns that the exported fields of a struct are named after and fills
// these in: DurNs Int is the column dur_ns. Fields of other types are left alone. The
// declaration of the field is all that there is to write.
func (c *Columns) Bind(dst any) error {
	v := reflect.ValueOf(dst).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		var err error
		switch p := v.Field(i).Addr().Interface().(type) {
		case *Int:
			*p, err = c.Int(columnName(f.Name))
		case *Str:
			*p, err = c.Str(columnName(f.Name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// MustBind is Bind for structs whose fields are not chosen at run time.
func (c *Columns) MustBind(dst any) {
	if err := c.Bind(dst); err != nil {
		panic(err)
	}
}

// columnName is dur_ns for DurNs.
func columnName(field string) string {
	var b strings.Builder
	for i, r := range field {
		if 'A' <= r && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// All lists what was asked for.
func (c *Columns) All() []Col { return c.asked }
