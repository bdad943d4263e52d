package parquetfile

import "netrec/analyze/words"

// element is a SchemaElement of the footer.
type element struct {
	name       string
	phys       int32 // -1 for none
	repetition int32
	children   int32
	kind       logical
	unsigned   bool
}

func parseElement(r *thrift) element {
	e := element{phys: -1}
	for id, t := range r.fields() {
		switch id {
		case 1:
			e.phys = r.i32(t)
		case 3:
			e.repetition = r.i32(t)
		case 4:
			e.name = words.Clip(r.binary(t))
		case 5:
			e.children = r.i32(t)
		case 6:
			e.converted(r.i32(t))
		case 10:
			if r.want(t, tStruct) {
				e.logical(r)
			}
		default:
			r.skip(t, 0)
		}
	}
	return e
}

// converted takes the older annotation; a logical type, which follows it in the
// structure, replaces it.
func (e *element) converted(v int32) {
	switch {
	case v == 0 || v == 4 || v == 19: // UTF8, ENUM, JSON
		e.kind = stringKind
	case v == 9:
		e.kind = millisKind
	case v == 10:
		e.kind = microsKind
	case v >= 11 && v <= 14:
		e.kind, e.unsigned = intKind, true
	case v >= 15 && v <= 18:
		e.kind = intKind
	default:
		e.kind = otherKind
	}
}

// logical reads the union LogicalType.
func (e *element) logical(r *thrift) {
	for id, t := range r.fields() {
		if !r.want(t, tStruct) {
			return
		}
		e.unsigned = false
		switch id {
		case 1, 4, 12: // STRING, ENUM, JSON
			e.kind = stringKind
			r.skip(t, 0)
		case 8:
			e.timestamp(r)
		case 10:
			e.kind = intKind
			e.integer(r)
		default:
			e.kind = otherKind
			r.skip(t, 0)
		}
	}
}

func (e *element) timestamp(r *thrift) {
	for id, t := range r.fields() {
		if id != 2 || t != tStruct {
			r.skip(t, 0)
			continue
		}
		for unit, t := range r.fields() {
			r.skip(t, 0)
			switch unit {
			case 1:
				e.kind = millisKind
			case 2:
				e.kind = microsKind
			case 3:
				e.kind = nanosKind
			default:
				e.kind = otherKind
			}
		}
	}
}

func (e *element) integer(r *thrift) {
	for id, t := range r.fields() {
		if id == 2 {
			e.unsigned = !r.bool(t)
			continue
		}
		r.skip(t, 0)
	}
}
