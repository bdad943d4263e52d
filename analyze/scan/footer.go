package scan

import (
	"bytes"
	"fmt"

	"netrec/schema"
)

// Physical types of Parquet.
const (
	physInt32     = 1
	physInt64     = 2
	physByteArray = 6
)

var physNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

// maxLeaves bounds the columns of a file; netrec's own has about a hundred.
const maxLeaves = 4096

// leaf is a column of the file as its schema declares it.
type leaf struct {
	name     string
	col      Col // -1 for a column that is none of ours
	phys     int8
	optional bool
	unsigned bool
	kind     logical
}

// logical is what the numbers or bytes of a column mean, as far as it matters here.
type logical uint8

const (
	plainKind logical = iota
	intKind
	stringKind
	millisKind
	microsKind
	nanosKind
	otherKind
)

// footer is what a FileMetaData structure says.
type footer struct {
	leaves []leaf
	rows   int64
	groups []group
	count  int               // row groups, also when they were not kept
	kv     map[string][]byte // slices of the input
}

// idSchema is the field of FileMetaData that comes last in a footer that grows.
const idSchema = 2

// parseFooter decodes a Thrift FileMetaData. Bytes after the structure are
// allowed: trailers of newer commits reach back to the newest full footer.
// Row groups are only counted unless o.keep.
func parseFooter(b []byte, o *Options, keep bool) (*footer, error) {
	r := &thrift{b: b}
	f := &footer{kv: map[string][]byte{}}
	var last, late int16 = 0, idSchema
	for {
		id, t := r.fieldOr(&last, late)
		if t == tStop {
			break
		}
		switch id {
		case idSchema:
			f.schema(r, t)
			late = 0
		case 3:
			f.rows = r.i64(t)
		case 4:
			f.rowGroups(r, t, o, keep)
		case 5:
			f.keyValues(r, t, o)
		case 8:
			r.fail(fmt.Errorf("%w: encryption", ErrUnsupport))
		default:
			r.skip(t, 0)
		}
	}
	if r.err != nil {
		if err := checkFormat(footerKeys(b, o)); err != nil {
			return nil, err
		}
		return nil, wrapDamage("footer", r.err)
	}
	if f.leaves == nil {
		return nil, damaged("footer: no schema")
	}
	return f, nil
}

// footerKeys reads the metadata alone of a footer that is not readable as a whole.
func footerKeys(b []byte, o *Options) map[string][]byte {
	r := &thrift{b: b}
	f := &footer{kv: map[string][]byte{}}
	var last int16
	for {
		switch id, t := r.fieldOr(&last, idSchema); {
		case t == tStop:
			return f.kv
		case id == 5:
			f.keyValues(r, t, o)
		default:
			r.skip(t, 0)
		}
	}
}

func (f *footer) rowGroups(r *thrift, t byte, o *Options, keep bool) {
	f.count = r.list(t, tStruct)
	if int64(f.count) > o.MaxGroups {
		r.fail(tooLarge("row groups", int64(f.count), o.MaxGroups))
	}
	for i := 0; i < f.count && r.err == nil; i++ {
		if !keep {
			r.skip(tStruct, 0)
			continue
		}
		g, err := parseGroup(r, f.leaves, o)
		if err != nil {
			r.fail(fmt.Errorf("row group %d: %w", i, err))
			return
		}
		f.groups = append(f.groups, g)
	}
}

// maxKeys bounds the keys of the metadata; only netrec's own are kept.
const maxKeys = 64

func (f *footer) keyValues(r *thrift, t byte, o *Options) {
	for n := r.list(t, tStruct); n > 0 && r.err == nil; n-- {
		var key, value []byte
		for id, t := range r.fields() {
			switch id {
			case 1:
				key = r.binary(t)
			case 2:
				value = r.binary(t)
			default:
				r.skip(t, 0)
			}
		}
		if bytes.HasPrefix(key, []byte(metaPrefix)) {
			keepMeta(f.kv, clip(key), value, o)
		}
	}
}

func (f *footer) schema(r *thrift, t byte) {
	n := r.list(t, tStruct)
	if n > maxLeaves {
		r.fail(tooLarge("columns", int64(n), maxLeaves))
		return
	}
	f.leaves = make([]leaf, 0, n)
	seen := map[Col]bool{}
	for i := range n {
		e := parseElement(r)
		switch {
		case r.err != nil:
			return
		case i == 0:
			if int(e.children) != n-1 {
				r.fail(fmt.Errorf("%w: nested columns", ErrUnsupport))
			}
			continue
		case e.children > 0 || e.repetition == 2:
			r.fail(fmt.Errorf("%w: column %q is nested or repeated", ErrUnsupport, e.name))
			return
		case e.phys < 0 || int(e.phys) >= len(physNames) || e.repetition < 0 || e.repetition > 1:
			r.fail(fmt.Errorf("column %q: no such type", e.name))
			return
		}
		l := leaf{name: e.name, col: Col(schema.ColumnIndex(e.name)), phys: int8(e.phys), optional: e.repetition == 1,
			unsigned: e.unsigned, kind: e.kind}
		if l.col >= 0 {
			if err := l.compatible(); err != nil {
				r.fail(err)
				return
			}
			if seen[l.col] {
				r.fail(fmt.Errorf("column %s twice", l.name))
				return
			}
			seen[l.col] = true
		}
		f.leaves = append(f.leaves, l)
	}
}

// compatible checks what the file stores under a name of ours against the
// column's type. Widths may differ; what the value means may not.
func (l *leaf) compatible() error {
	want := schema.Columns[l.col].Type
	ok := false
	switch want {
	case schema.String:
		ok = l.phys == physByteArray && (l.kind == stringKind || l.kind == plainKind)
	case schema.Micros:
		ok = l.phys == physInt64 && l.kind != stringKind && l.kind != otherKind
	default:
		ok = (l.phys == physInt32 || l.phys == physInt64) && (l.kind == intKind || l.kind == plainKind)
	}
	if !ok {
		return fmt.Errorf("%w: %s is %s%s, not %s", ErrColumn, l.name, physNames[l.phys], l.kind, want)
	}
	return nil
}

func (k logical) String() string {
	return [...]string{"", " (integer)", " (string)", " (timestamp in ms)", " (timestamp in us)", " (timestamp in ns)",
		" (with another meaning)"}[k]
}
