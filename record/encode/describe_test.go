package encode

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"netrec/schema"
)

func groupOf(t *testing.T, batches ...Batch) format.RowGroup {
	t.Helper()
	return groupBy(t, New(names{}, wall), batches...)
}

func groupBy(t *testing.T, e *Encoder, batches ...Batch) format.RowGroup {
	t.Helper()
	_, rg, err := e.Group(nil, 1000, batches...)
	if err != nil {
		t.Fatal(err)
	}
	var out format.RowGroup
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), rg.Thrift, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// order compares values as readers do: addresses unsigned.
func order(c int, a, b any) int {
	switch a := a.(type) {
	case string:
		return cmp.Compare(a, b.(string))
	case int64:
		if schema.Columns[c].Type == schema.Uint64 {
			return cmp.Compare(uint64(a), uint64(b.(int64)))
		}
		return cmp.Compare(a, b.(int64))
	}
	panic("no value")
}

func plainValue(c int, b []byte) any {
	switch schema.Columns[c].Type {
	case schema.String:
		return string(b)
	case schema.Int32:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

func TestStatistics(t *testing.T) {
	var batches []Batch
	for i := range schema.Events {
		batches = append(batches, Batch{Event: &schema.Events[i], Data: records(&schema.Events[i], 100, 2)})
	}
	for _, g := range [][]Batch{batches, batches[4:5], batches[7:8]} {
		rg, rows := groupOf(t, g...), inOrder(g)
		for c := range schema.Columns {
			var lo, hi any
			var nulls int64
			for _, r := range rows {
				v := expected(r.ev, r.rec, c, wall)
				if v == nil {
					nulls++
					continue
				}
				if lo == nil || order(c, v, lo) < 0 {
					lo = v
				}
				if hi == nil || order(c, v, hi) > 0 {
					hi = v
				}
			}
			checkStats(t, c, rg.Columns[c].MetaData.Statistics, nulls, lo, hi)
		}
	}
}

func checkStats(t *testing.T, c int, st format.Statistics, nulls int64, lo, hi any) {
	t.Helper()
	col := schema.Columns[c]
	if st.NullCount != nulls {
		t.Errorf("%s: null count %d, want %d", col.Name, st.NullCount, nulls)
	}
	if lo == nil || col.Type == schema.String && col.Name != "event" {
		if st.MinValue != nil || st.MaxValue != nil {
			t.Errorf("%s: bounds % x % x, want none", col.Name, st.MinValue, st.MaxValue)
		}
		return
	}
	if got := plainValue(c, st.MinValue); got != lo {
		t.Errorf("%s: min %v, want %v", col.Name, got, lo)
	}
	if got := plainValue(c, st.MaxValue); got != hi {
		t.Errorf("%s: max %v, want %v", col.Name, got, hi)
	}
}

func TestRowGroupMetadata(t *testing.T) {
	ev := schema.ByName("tcp_rcv_est")
	rg := groupOf(t, Batch{Event: ev, Data: records(ev, 500, 1)})
	if rg.NumRows != 500 || rg.FileOffset != 1000 || !reflect.DeepEqual(rg.SortingColumns, thrift.Slice[format.SortingColumn]{{}}) {
		t.Errorf("%d rows at %d sorted by %v", rg.NumRows, rg.FileOffset, rg.SortingColumns)
	}
	var raw, size, at int64
	at = 1000
	for i := range rg.Columns {
		m := &rg.Columns[i].MetaData
		first := m.DataPageOffset
		if m.DictionaryPageOffset != 0 {
			first = m.DictionaryPageOffset
		}
		if first != at || m.Codec != format.Zstd || m.NumValues != 500 || m.PathInSchema[0] != schema.Columns[i].Name {
			t.Fatalf("column %d: chunk at %d, want %d; %+v", i, first, at, m)
		}
		at, raw, size = at+m.TotalCompressedSize, raw+m.TotalUncompressedSize, size+m.TotalCompressedSize
	}
	if rg.TotalByteSize != raw || rg.TotalCompressedSize != size {
		t.Errorf("sizes %d and %d, want %d and %d", rg.TotalByteSize, rg.TotalCompressedSize, raw, size)
	}
}

func TestEncodings(t *testing.T) {
	rows := rcvEstRows()
	for i := range rows {
		rows[i].Cookie = int64(hashInt(int64(i)) >> 1)
		rows[i].SRTT = int32(i / 2 * 3)
	}
	rg := groupOf(t, Batch{Event: schema.ByName("tcp_rcv_est"), Data: raw(rows)})
	for name, want := range map[string]format.Encoding{"ts_ns": format.DeltaBinaryPacked, "ts": format.DeltaBinaryPacked,
		"seq": format.DeltaBinaryPacked, "event": format.RLEDictionary, "comm": format.RLEDictionary, "sock": format.RLEDictionary,
		"cpu": format.RLEDictionary, "snd_ssthresh": format.RLEDictionary, "skb": format.RLEDictionary, "snd_una": format.DeltaBinaryPacked,
		"srtt_us": format.DeltaBinaryPacked, "cookie": format.Plain, "host": format.Plain} {
		m := &rg.Columns[schema.ColumnIndex(name)].MetaData
		if m.Encoding[1] != want || (m.DictionaryPageOffset != 0) != (want == format.RLEDictionary) {
			t.Errorf("%s: %v with dictionary at %d, want %v", name, m.Encoding, m.DictionaryPageOffset, want)
		}
	}
}

func TestBloomFilters(t *testing.T) {
	few, many, skb := sockIORows(), rcvEstRows(), skbConsumeRows()
	for i := range many {
		many[i].Skb = 0xffff888000000000 + uint64(i)*3*64
	}
	file := fileOf(t, New(names{}, wall), []Batch{{Event: schema.ByName("sock_io"), Data: raw(few)}}, []Batch{{Event: schema.ByName("tcp_rcv_est"), Data: raw(many)}},
		[]Batch{{Event: schema.ByName("skb_consume"), Data: raw(skb)}})
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	filter := func(group int, column string) parquet.BloomFilter {
		return f.RowGroups()[group].ColumnChunks()[schema.ColumnIndex(column)].BloomFilter()
	}
	if filter(2, "sock") != nil || filter(0, "skb") != nil || filter(0, "pid") != nil {
		t.Error("a bloom filter where nothing is looked up")
	}
	for i := range few {
		if ok, err := filter(0, "sock").Check(parquet.ValueOf(few[i].Sock)); !ok {
			t.Fatalf("sock %x is in the group, the filter says it is not (%v)", few[i].Sock, err)
		}
	}
	hits := 0
	for i := range many {
		if ok, err := filter(1, "skb").Check(parquet.ValueOf(many[i].Skb)); !ok {
			t.Fatalf("skb %x is in the group, the filter says it is not (%v)", many[i].Skb, err)
		}
		if ok, _ := filter(1, "skb").Check(parquet.ValueOf(many[i].Skb + 64)); ok {
			hits++
		}
	}
	if hits > len(many)/20 {
		t.Errorf("%d of %d absent values pass", hits, len(many))
	}
	if size := filter(1, "skb").Size(); size < loadRows || size > 2*loadRows+64 {
		t.Errorf("filter of %d bytes for %d values", size, len(many))
	}
}

func TestStoredFrames(t *testing.T) {
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	for _, n := range []int{0, 1, 7, 255, 256, 65791, 65792, storedBlock - 1, storedBlock, storedBlock + 1, 3*storedBlock + 5} {
		page := bytes.Repeat([]byte{1, 2, 3}, n/3+1)[:n]
		got, err := dec.DecodeAll(appendStored(nil, page), nil)
		if err != nil || !bytes.Equal(got, page) {
			t.Errorf("%d bytes: %d came back, %v", n, len(got), err)
		}
		slow, err := zstd.NewReader(bytes.NewReader(appendStored(nil, page)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(slow); err != nil || !bytes.Equal(got, page) {
			t.Errorf("%d bytes as a stream: %d came back, %v", n, len(got), err)
		}
		slow.Close()
	}
}

func TestDeltas(t *testing.T) {
	extremes := []int64{math.MinInt64, math.MaxInt64, 0, -1, 1, math.MaxInt32, math.MinInt32}
	var p pageBuffers
	for n := 1; n < 700; n++ {
		wide, thin := number{}, number{narrow: true}
		for i := range n {
			v := int64(i*i%977) - 400
			thin.values = append(thin.values, v)
			if i%50 == 3 {
				v = extremes[i/50%len(extremes)]
			}
			wide.values = append(wide.values, v)
		}
		for _, c := range []*number{&wide, &thin} {
			p.data = p.data[:0]
			if err := p.appendDeltas(c); err != nil {
				t.Fatal(err)
			}
			if got := unpacked(t, &p, c.narrow); !slices.Equal(got, c.values) {
				t.Fatalf("%d values (narrow: %v): got %v", n, c.narrow, got)
			}
		}
		if most := 30 + n*12/8 + 32*12/8 + n/128*8; len(p.data) > most {
			t.Fatalf("%d values of 11 bits take %d bytes", n, len(p.data))
		}
	}
}

func unpacked(t *testing.T, p *pageBuffers, narrow bool) []int64 {
	t.Helper()
	if !narrow {
		out, err := p.deltas.DecodeInt64(nil, p.data)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	got, err := p.deltas.DecodeInt32(nil, p.data)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]int64, len(got))
	for i, v := range got {
		out[i] = int64(v)
	}
	return out
}
