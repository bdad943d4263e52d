package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
)

// Types of the Thrift compact protocol. A bool inside a struct is its type.
const (
	tStop   = 0
	tTrue   = 1
	tFalse  = 2
	tByte   = 3
	tI16    = 4
	tI32    = 5
	tI64    = 6
	tDouble = 7
	tBinary = 8
	tList   = 9
	tSet    = 10
	tMap    = 11
	tStruct = 12
	tUUID   = 13
)

// maxDepth bounds the nesting of values that are skipped; Parquet's own nest 6 deep.
const maxDepth = 16

var errCut = errors.New("cut off")

// thrift walks Thrift compact bytes. The first thing wrong sticks in err, and
// from then on every read returns zero, so that callers check once per struct.
// Time is linear in the input and nothing is allocated.
type thrift struct {
	b   []byte
	pos int
	err error
}

func (r *thrift) fail(err error) {
	if r.err == nil && typedError(err) {
		r.err = err
	} else if r.err == nil {
		r.err = fmt.Errorf("at byte %d: %w", r.pos, err)
	}
	r.pos = len(r.b)
}

func (r *thrift) byte() byte {
	if r.pos >= len(r.b) {
		r.fail(errCut)
		return 0
	}
	c := r.b[r.pos]
	r.pos++
	return c
}

func (r *thrift) uvarint() uint64 {
	v, n := binary.Uvarint(r.b[r.pos:])
	if n <= 0 {
		r.fail(errCut)
		return 0
	}
	r.pos += n
	return v
}

func (r *thrift) varint() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// fields are the ids and types of the fields of a struct, up to its end or to what is wrong
// with it. Whoever ranges over them reads or skips the value of each.
func (r *thrift) fields() iter.Seq2[int16, byte] {
	return func(yield func(int16, byte) bool) {
		var last int16
		for {
			if id, t := r.field(&last); t == tStop || !yield(id, t) {
				return
			}
		}
	}
}

// field reads the header of the next field of a struct; last is the id of the
// one before. Parquet's writers give ids in rising order, and insisting on it
// means that no field is seen twice.
func (r *thrift) field(last *int16) (id int16, typ byte) { return r.fieldOr(last, 0) }

// fieldOr is field where one id may also come after greater ones; 0 for none.
func (r *thrift) fieldOr(last *int16, late int16) (id int16, typ byte) {
	h := r.byte()
	if h == tStop {
		return 0, tStop
	}
	next := int64(*last) + int64(h>>4)
	if h>>4 == 0 {
		next = r.varint()
	}
	if r.err == nil && late != 0 && next == int64(late) && late < *last {
		return late, h & 15
	}
	if r.err != nil || next <= int64(*last) || next > math.MaxInt16 {
		r.fail(errors.New("fields out of order"))
		return 0, tStop
	}
	*last = int16(next)
	return *last, h & 15
}

// want checks the type of a field against the one that the format gives it.
func (r *thrift) want(got, want byte) bool {
	if got != want {
		r.fail(fmt.Errorf("type %d where %d is due", got, want))
	}
	return got == want && r.err == nil
}

func (r *thrift) i32(typ byte) int32 {
	if !r.want(typ, tI32) {
		return 0
	}
	v := r.varint()
	if v < math.MinInt32 || v > math.MaxInt32 {
		r.fail(errors.New("number out of range"))
		return 0
	}
	return int32(v)
}

func (r *thrift) i64(typ byte) int64 {
	if !r.want(typ, tI64) {
		return 0
	}
	return r.varint()
}

func (r *thrift) bool(typ byte) bool {
	if typ != tTrue && typ != tFalse {
		r.want(typ, tTrue)
	}
	return typ == tTrue
}

// binary returns a slice of the input.
func (r *thrift) binary(typ byte) []byte {
	if !r.want(typ, tBinary) {
		return nil
	}
	n := r.uvarint()
	if n > uint64(len(r.b)-r.pos) {
		r.fail(errCut)
		return nil
	}
	r.pos += int(n)
	return r.b[r.pos-int(n) : r.pos]
}

// list reads the header of a list of elements of type want. Every element takes
// at least a byte, so the count is bounded by the input.
func (r *thrift) list(typ, want byte) int {
	if !r.want(typ, tList) {
		return 0
	}
	n, elem := r.listHeader()
	if n > 0 && elem != want {
		r.fail(fmt.Errorf("list of type %d where %d is due", elem, want))
		return 0
	}
	return n
}

func (r *thrift) listHeader() (n int, elem byte) {
	h := r.byte()
	size := uint64(h >> 4)
	if size == 15 {
		size = r.uvarint()
	}
	if r.err == nil && size > uint64(len(r.b)-r.pos) {
		r.fail(errors.New("list longer than the input"))
	}
	if r.err != nil {
		return 0, 0
	}
	return int(size), h & 15
}

// skip passes over a value of any type.
func (r *thrift) skip(typ byte, depth int) {
	if depth > maxDepth {
		r.fail(errors.New("nested too deep"))
		return
	}
	switch typ {
	case tTrue, tFalse:
	case tByte:
		r.byte()
	case tI16, tI32, tI64:
		r.uvarint()
	case tDouble:
		r.advance(8)
	case tUUID:
		r.advance(16)
	case tBinary:
		r.binary(typ)
	case tList, tSet:
		n, elem := r.listHeader()
		for ; n > 0 && r.err == nil; n-- {
			r.skipElem(elem, depth+1)
		}
	case tMap:
		r.skipMap(depth)
	case tStruct:
		for _, t := range r.fields() {
			r.skip(t, depth+1)
		}
	default:
		r.fail(fmt.Errorf("type %d is none", typ))
	}
}

func (r *thrift) skipMap(depth int) {
	n := r.uvarint()
	if n == 0 || r.err != nil {
		return
	}
	kv := r.byte()
	if n > uint64(len(r.b)-r.pos) {
		r.fail(errors.New("map longer than the input"))
	}
	for ; n > 0 && r.err == nil; n-- {
		r.skipElem(kv>>4, depth+1)
		r.skipElem(kv&15, depth+1)
	}
}

// skipElem passes over an element of a list or map, where a bool takes a byte.
func (r *thrift) skipElem(typ byte, depth int) {
	if typ == tTrue || typ == tFalse {
		r.byte()
		return
	}
	r.skip(typ, depth)
}

func (r *thrift) advance(n int) {
	if n > len(r.b)-r.pos {
		r.fail(errCut)
		return
	}
	r.pos += n
}
