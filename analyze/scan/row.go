package scan

import (
	"netrec/analyze/parquetfile"
	"netrec/schema"
)

// Col is the index of a column in schema.Columns.
type Col int

// Vec is one column of one batch of rows. UINT64 columns hold the bits of the address.
type Vec = parquetfile.Vec

// Row is a cursor on one row. It is only valid during the call it was given to.
type Row struct {
	TS    int64         // ts_ns
	Event *schema.Event // never nil
	vecs  []Vec         // by Col; columns that were not asked for are empty
	i     int
}

// At points a cursor at row i of a batch; for sources other than files.
func At(e *schema.Event, ts int64, vecs []Vec, i int) Row {
	return Row{TS: ts, Event: e, vecs: vecs, i: i}
}

// Int is the value of a number column, 0 where it is NULL.
func (r *Row) Int(c Int) int64 {
	if v := r.vecs[c.Col()].Ints; v != nil {
		return v[r.i]
	}
	return 0
}

// Uint is the value of an address column.
func (r *Row) Uint(c Int) uint64 { return uint64(r.Int(c)) }

// Has reports whether a number column is not NULL in this row.
func (r *Row) Has(c Int) bool {
	v := &r.vecs[c.Col()]
	return v.Ints != nil && (v.Valid == nil || v.Valid[r.i])
}

// HasStr reports whether a string column is not NULL in this row.
func (r *Row) HasStr(c Str) bool {
	v := &r.vecs[c.Col()]
	return v.Index != nil && v.Index[r.i] >= 0
}

// HasAt is Has of a column of any type by its place, for those who take every column.
func (r *Row) HasAt(c Col) bool { return r.Has(IntAt(c)) || r.HasStr(StrAt(c)) }

// Str is the value of a string column, "" where it is NULL. Strings stay valid
// after the row, and equal strings of one batch share their bytes.
func (r *Row) Str(c Str) string {
	v := &r.vecs[c.Col()]
	if v.Index == nil {
		return ""
	}
	if k := v.Index[r.i]; k >= 0 {
		return v.Dict[k]
	}
	return ""
}
