package parquetfile

import "fmt"

// maxLeaves bounds the columns of a file; a wide table has hundreds.
const maxLeaves = 4096

// Footer is what a FileMetaData structure says.
type Footer struct {
	Leaves []Leaf // nil if it has no schema
	Rows   int64
	Groups int // row groups, also when nobody asked for them
}

// idSchema and idPairs are fields of FileMetaData. The schema comes last in a footer that grows.
const (
	idSchema = 2
	idPairs  = 5
)

// ParseFooter decodes a Thrift FileMetaData. Bytes after the structure are
// allowed: a trailer may reach back over an older footer. Every row group is
// given to group, unless that is nil, and every pair of the metadata to pair,
// as slices of the input.
func (t *Table) ParseFooter(b []byte, group func(Group, Stats) error, pair func(key, value []byte)) (*Footer, error) {
	r := &thrift{b: b}
	f := &Footer{}
	var last, late int16 = 0, idSchema
	for {
		id, typ := r.fieldOr(&last, late)
		if typ == tStop {
			return f, r.err
		}
		switch id {
		case idSchema:
			f.schema(r, typ, t)
			late = 0
		case 3:
			f.Rows = r.i64(typ)
		case 4:
			f.rowGroups(r, typ, t, group)
		case idPairs:
			pairs(r, typ, pair)
		case 8:
			r.fail(fmt.Errorf("%w: encryption", ErrUnsupport))
		default:
			r.skip(typ, 0)
		}
	}
}

// Pairs reads the metadata alone, of a footer that is not readable as a whole.
func Pairs(b []byte, pair func(key, value []byte)) {
	r := &thrift{b: b}
	var last int16
	for {
		switch id, t := r.fieldOr(&last, idSchema); {
		case t == tStop:
			return
		case id == idPairs:
			pairs(r, t, pair)
		default:
			r.skip(t, 0)
		}
	}
}

func (f *Footer) rowGroups(r *thrift, typ byte, t *Table, group func(Group, Stats) error) {
	f.Groups = r.list(typ, tStruct)
	if int64(f.Groups) > t.Limits.Groups {
		r.fail(TooLarge("row groups", int64(f.Groups), t.Limits.Groups))
	}
	for i := 0; i < f.Groups && r.err == nil; i++ {
		if group == nil {
			r.skip(tStruct, 0)
			continue
		}
		g, stats, err := t.parseGroup(r, f.Leaves)
		if err == nil {
			err = group(g, stats)
		}
		if err != nil {
			r.fail(fmt.Errorf("row group %d: %w", i, err))
		}
	}
}

func pairs(r *thrift, t byte, pair func(key, value []byte)) {
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
		pair(key, value)
	}
}

func (f *Footer) schema(r *thrift, typ byte, t *Table) {
	n := r.list(typ, tStruct)
	if n > maxLeaves {
		r.fail(TooLarge("columns", int64(n), maxLeaves))
		return
	}
	f.Leaves = make([]Leaf, 0, n)
	seen := map[int]bool{}
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
		f.Leaves = append(f.Leaves, Leaf{Name: e.name, phys: int8(e.phys), Optional: e.repetition == 1, unsigned: e.unsigned, kind: e.kind})
		l := &f.Leaves[len(f.Leaves)-1] // in place, as its pointer leaves for the caller
		if err := t.number(l); err != nil {
			r.fail(err)
			return
		}
		if l.Col >= 0 && seen[l.Col] {
			r.fail(fmt.Errorf("column %s twice", l.Name))
			return
		}
		seen[l.Col] = true
	}
}
