package encode

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"netrec/schema"
)

// Positions of a few streams that take turns are shorter plain, and what that was found for stays plain until it is
// tried again; a recorder in a hurry packs differences. Positions of one stream never get plain.
func TestPlainWhereItIsShorter(t *testing.T) {
	ev, column := schema.ByName("sock_io"), schema.ColumnIndex("out_bytes")
	turns, one := sockIORows()[:20_000], sockIORows()[:20_000]
	var at [8]uint32
	r := rand.New(rand.NewPCG(1, 2))
	for i := range turns {
		k := r.IntN(len(at))
		at[k] += r.Uint32N(3) * 512
		turns[i].Out = uint32(k)<<28 + at[k]
		one[i].Out = uint32(i) * 512
	}
	e := New(names{}, wall)
	encoding := func(g []Batch) format.Encoding {
		enc := groupBy(t, e, g...).Columns[column].MetaData.Encoding
		return enc[len(enc)-1]
	}
	g := []Batch{{Event: ev, Data: raw(turns)}}
	var got []format.Encoding
	for range 2 + dullFor {
		got = append(got, encoding(g))
	}
	if i := slices.IndexFunc(got[1:], func(enc format.Encoding) bool { return enc != format.Plain }); i >= 0 {
		t.Errorf("row group %d of streams that take turns is %v; all are %v", i+1, got[i+1], got)
	}
	e.Hurry = true
	if enc := encoding(g); enc != format.DeltaBinaryPacked {
		t.Errorf("in a hurry it is %v", enc)
	}
	e.Hurry = false
	check(t, fileOf(t, e, g, g), g, g)
	e = New(names{}, wall)
	g = []Batch{{Event: ev, Data: raw(one)}}
	for range 3 {
		if enc := encoding(g); enc != format.DeltaBinaryPacked {
			t.Errorf("positions of one stream are %v", enc)
		}
	}
	check(t, fileOf(t, e, g), g)
}
