package encode

import (
	"math"
	"unsafe"

	"netrec/schema"
)

// field is a field of a record with what the loops need to know about it.
type field struct {
	schema.Field
	stride   int // length of the record
	nullable bool
	null     int64 // the loaded value that means NULL
	raws     raws  // strings
	span     span  // none for those that are long
	kin      int   // number of those that have values in the same rows, 0 for none
	words    []int // in which they lie
}

func newField(f schema.Field, stride int) field {
	r := field{Field: f, stride: stride, span: spanOf(f)}
	switch f.Null {
	case schema.ZeroNull:
		r.nullable = true
	case schema.OnesNull:
		r.nullable, r.null = true, -1
		if !f.Signed && f.Size < 8 {
			r.null = 1<<(8*f.Size) - 1
		}
	case schema.LeastNull:
		r.nullable, r.null = true, -1<<(8*f.Size-1)
	}
	switch f.As {
	case schema.AsRef, schema.AsKsym, schema.AsCgroup:
		r.nullable, r.null = true, 0
	}
	if f.As == schema.AsEnum || f.As == schema.AsBits {
		r.raws.small = make([]int32, smallNames)
	}
	if f.Size == shortBytes && (f.As == schema.AsStr || f.As == schema.AsIP) {
		r.raws.short = make([]short, shortSlots)
	}
	if schema.Columns[f.Column].Required {
		r.nullable = false
	}
	return r
}

// isNumber tells numbers from strings.
func (f *field) isNumber() bool {
	switch f.As {
	case schema.AsInt, schema.AsAddr, schema.AsTime, schema.AsMicros:
		return true
	}
	return false
}

// load reads a number from each record.
func (f *field) load(v []int64, rows []*byte) {
	switch {
	case f.Size == 8:
		loadAs[int64](v, rows, f.Offset)
	case f.Size == 4 && f.Signed:
		loadAs[int32](v, rows, f.Offset)
	case f.Size == 4:
		loadAs[uint32](v, rows, f.Offset)
	case f.Size == 2 && f.Signed:
		loadAs[int16](v, rows, f.Offset)
	case f.Size == 2:
		loadAs[uint16](v, rows, f.Offset)
	case f.Signed:
		loadAs[int8](v, rows, f.Offset)
	default:
		loadAs[uint8](v, rows, f.Offset)
	}
}

// loadAs is the innermost loop of the encoder. Records are as long as their event says, which
// Group has checked; the machines that record are little-endian, as their records are.
func loadAs[T int64 | int32 | uint32 | int16 | uint16 | int8 | uint8](v []int64, rows []*byte, offset int) {
	for i, row := range rows[:len(v)] {
		v[i] = int64(*(*T)(unsafe.Add(unsafe.Pointer(row), offset)))
	}
}

// record is the bytes of one.
func (f *field) record(row *byte) []byte { return unsafe.Slice(row, f.stride) }

// convert changes loaded values into those of the column.
func (f *field) convert(v []int64, monoToWall int64) {
	switch f.As {
	case schema.AsTime:
		for i := range v {
			v[i] += monoToWall
		}
	case schema.AsMicros:
		for i := range v {
			v[i] = micros(v[i] + monoToWall)
		}
	}
}

// micros rounds down, before 1970 too.
func micros(ns int64) int64 {
	us := ns / 1000
	if ns%1000 < 0 {
		us--
	}
	return us
}

// bounds are the extremes of v, in unsigned order if flip is the sign bit and in
// signed order if it is 0.
func bounds(v []int64, flip int64) (lo, hi int64) {
	lo, hi = math.MaxInt64, math.MinInt64
	for _, x := range v {
		x ^= flip
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo ^ flip, hi ^ flip
}
