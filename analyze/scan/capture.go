package scan

import (
	"fmt"

	"netrec/analyze/parquetfile"
	"netrec/schema"
)

// newTable is what a Parquet file has to have in it to be a capture, and may ask for.
func newTable(o *Options) *parquetfile.Table {
	return &parquetfile.Table{Column: numberOf, Longest: textLimits, Limits: parquetfile.Limits{Footer: o.MaxFooter, Chunk: o.MaxChunk, Group: o.MaxGroup,
		Groups: o.MaxGroups, String: o.MaxString}}
}

// numberOf checks what the file stores under a name of ours against the column's type. Widths may
// differ; what the value means may not.
func numberOf(l *parquetfile.Leaf) (int, error) {
	i := schema.ColumnIndex(l.Name)
	if i < 0 {
		return -1, nil
	}
	var ok bool
	want := schema.Columns[i].Type
	switch want {
	case schema.String:
		ok = l.IsText()
	case schema.Micros:
		ok = l.IsTime()
	default:
		ok = l.IsInt()
	}
	if !ok {
		return -1, fmt.Errorf("%w: %s is %s, not %s", ErrColumn, l.Name, l.Type(), want)
	}
	return i, nil
}

// isTable reports whether a table has what no capture lacks.
func isTable(leaves []parquetfile.Leaf) error {
	for _, c := range []Col{colTS, colEvent} {
		found := false
		for i := range leaves {
			found = found || leaves[i].Col == int(c)
		}
		if !found {
			return fmt.Errorf("%w: a Parquet file without the column %s", ErrNotCapture, schema.Columns[c].Name)
		}
	}
	return nil
}

// footer is what the footer of a capture says.
type footer struct {
	*parquetfile.Footer
	groups []group
	kv     map[string][]byte // slices of the input
}

// parseFooter decodes a footer. Row groups are only counted unless keep.
func parseFooter(b []byte, t *parquetfile.Table, o *Options, keep bool) (*footer, error) {
	f := &footer{kv: map[string][]byte{}}
	var add func(parquetfile.Group, parquetfile.Stats) error
	if keep {
		add = f.add
	}
	var err error
	if f.Footer, err = t.ParseFooter(b, add, keeper(f.kv, o)); err != nil {
		kv := map[string][]byte{}
		parquetfile.Pairs(b, keeper(kv, o))
		if err := checkFormat(kv); err != nil {
			return nil, err
		}
		return nil, parquetfile.Damage("footer", err)
	}
	if f.Leaves == nil {
		return nil, parquetfile.Damaged("footer: no schema")
	}
	return f, nil
}

func (f *footer) add(pg parquetfile.Group, s parquetfile.Stats) error {
	g, err := newGroup(pg, s)
	f.groups = append(f.groups, g)
	return err
}
