package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// wheel is a row that has nothing to do with recordings.
type wheel struct {
	Maker  string  `parquet:"maker,dict"`
	Spokes *int32  `parquet:"spokes,optional"`
	Weight float64 `parquet:"weight"`
	Made   int64   `parquet:"made,timestamp(millisecond)"`
}

func wheels(t *testing.T) []byte {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[wheel](&b, parquet.Compression(&parquet.Snappy))
	w.SetKeyValueMetadata("colour", "red")
	n := int32(32)
	for _, rows := range [][]wheel{{{"Mavic", &n, 1.5, 7}, {"a maker of a long name", nil, 2, 8}}, {{"Mavic", nil, 1, 9}}} {
		_, err := w.Write(rows)
		must(t, err)
		must(t, w.Flush())
	}
	must(t, w.Close())
	return b.Bytes()
}

// numbered gives columns numbers by their place in names.
func numbered(names ...string) *Table {
	return &Table{Limits: Limits{1 << 20, 1 << 20, 1 << 20, 10, 1 << 10}, Longest: slices.Repeat([]int{8}, len(names)),
		Column: func(l *Leaf) (int, error) { return slices.Index(names, l.Name), nil }}
}

// TestTableOfAnybody reads what another program wrote about other things.
func TestTableOfAnybody(t *testing.T) {
	b, table := wheels(t), numbered("made", "spokes", "maker", "none")
	foot, start, err := table.ReadFooter(bytes.NewReader(b), int64(len(b)))
	must(t, err)
	d := Decoder{File: bytes.NewReader(b), Table: table, Pool: NewPool(1<<20, func() error { return ErrLimit })}
	defer d.Close()
	var got, keys []string
	var groups []Group
	f, err := table.ParseFooter(foot, func(g Group, s Stats) error {
		groups = append(groups, g)
		made, _ := s.Of(0)
		low, high, ok := made.Ints()
		maker, _ := s.Of(2)
		_, none := s.Of(3)
		got = append(got, fmt.Sprintf("%d to %d %t, %d NULL, all %q, %t", low, high, ok, maker.Nulls(), maker.Only(9), none))
		return nil
	}, func(k, v []byte) { keys = append(keys, string(k)+"="+string(v)) })
	must(t, err)
	must(t, CheckPlaces(groups, func(g *Group) *Group { return g }, 4, start))
	if f.Rows != 3 || f.Groups != 2 || !slices.Contains(keys, "colour=red") {
		t.Errorf("%+v, metadata %q", f, keys)
	}
	for _, g := range groups {
		for col := range 4 {
			var v Vec
			_, err := d.Decode(&g, col, &v)
			must(t, err)
			got = append(got, fmt.Sprint(v))
		}
	}
	want := []string{`7 to 8 true, 0 NULL, all "", false`, `9 to 9 true, 0 NULL, all "Mavic", false`,
		"{[7000 8000] [] [] []}", "{[32 0] [] [] [true false]}", "{[] [0 1] [Mavic a maker … (cut, 22 bytes)] []}", "{[] [] [] []}",
		"{[9000] [] [] []}", "{[] [] [] []}", "{[] [0] [Mavic] []}", "{[] [] [] []}"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestTypesThatAreNotDecoded: no caller can ask for them.
func TestTypesThatAreNotDecoded(t *testing.T) {
	b, table := wheels(t), numbered("weight")
	foot, _, err := table.ReadFooter(bytes.NewReader(b), int64(len(b)))
	must(t, err)
	if _, err := table.ParseFooter(foot, nil, func(_, _ []byte) {}); !errors.Is(err, ErrUnsupport) || err.Error() != "parquet feature not supported: column weight is DOUBLE" {
		t.Errorf("%v", err)
	}
	if _, _, err := table.ReadFooter(bytes.NewReader(b), int64(len(b))-1); !errors.Is(err, ErrNoFooter) {
		t.Errorf("a file that lacks its last byte: %v", err)
	}
}
