package encode

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"netrec/schema"
)

// A footer that has grown is, from each of its starts, the footer of the row groups that it had
// then; from the older ones still.
func TestGrowingFooter(t *testing.T) {
	f, err := NewFooter("test")
	if err != nil {
		t.Fatal(err)
	}
	e, ev := New(names{}, wall), schema.ByName("tcp_rcv_est")
	group := func(rows int) []byte {
		_, rg, err := e.Group(nil, 4, Batch{Event: ev, Data: records(ev, rows, 1)})
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(rg.Thrift)
	}
	kv := []KeyValue{{"k", "v"}}
	file := f.AppendGrowingStart(nil, 7, 1)
	starts, head := []int{0}, len(file) // from the end of the file
	file = f.AppendGrowingEnd(append(file, group(7)...), kv)
	starts[0] = len(file)
	want := [][]int64{{7}}
	for _, newer := range [][]int64{{11}, {13, 17}, {300, 5, 23}} {
		var thrift []byte
		all := slices.Concat(newer, want[len(want)-1])
		for _, rows := range newer {
			thrift = append(thrift, group(int(rows))...)
		}
		grown := f.AppendGrowth(nil, sum(all), len(all), thrift, head)
		head = len(f.AppendGrowingStart(nil, sum(all), len(all)))
		file = append(grown, file...)
		starts, want = append(starts, len(file)), append(want, all)
	}
	for i, from := range starts {
		plain := f.AppendStart(nil, sum(want[i]), len(want[i]))
		for _, rows := range want[i] {
			plain = append(plain, group(int(rows))...)
		}
		got, like := decoded(t, file[len(file)-from:]), decoded(t, f.AppendEnd(plain, kv))
		if !reflect.DeepEqual(got, like) {
			t.Errorf("start %d: %d rows in %d row groups, want %d in %d, and all else alike", i, got.NumRows, len(got.RowGroups), like.NumRows, len(like.RowGroups))
		}
	}
}

func sum(list []int64) (n int64) {
	for _, v := range list {
		n += v
	}
	return n
}

func decoded(t *testing.T, b []byte) (m format.FileMetaData) {
	t.Helper()
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(bytes.NewReader(b))).Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}
