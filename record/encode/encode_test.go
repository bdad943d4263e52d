package encode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"netrec/schema"
)

const (
	offEvent = int(unsafe.Offsetof(schema.Header{}.Event))
	wall     = int64(1_700_000_000_123_456_789)
)

// fileOf builds a whole Parquet file from groups of batches.
func fileOf(t testing.TB, e *Encoder, groups ...[]Batch) []byte {
	t.Helper()
	footer, err := NewFooter("netrec test")
	if err != nil {
		t.Fatal(err)
	}
	buf := []byte("PAR1 some bytes between ")
	var thrift []byte
	var rows int64
	for _, g := range groups {
		var rg RowGroup
		// The buffer is handed over from its middle on, as the capture writer does.
		out, rg, err := e.Group(buf[10:], 10, g...)
		if err != nil {
			t.Fatal(err)
		}
		buf = append(buf[:10], out...)
		thrift = append(thrift, rg.Thrift...)
		rows += rg.Rows
	}
	start := len(buf)
	buf = append(footer.AppendStart(buf, rows, len(groups)), thrift...)
	buf = footer.AppendEnd(buf, []KeyValue{{"k", "v"}})
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(buf)-start))
	return append(buf, "PAR1"...)
}

// table reads all values of all columns: nil, int64 or string.
func table(t testing.TB, file []byte) [][]any {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	cols := make([][]any, len(schema.Columns))
	for _, rg := range f.RowGroups() {
		for i, c := range rg.ColumnChunks() {
			cols[i] = append(cols[i], chunkValues(t, c)...)
		}
	}
	return cols
}

func chunkValues(t testing.TB, c parquet.ColumnChunk) []any {
	t.Helper()
	var out []any
	pages := c.Pages()
	defer pages.Close()
	for {
		p, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("column %d: %v", c.Column(), err)
		}
		vals := make([]parquet.Value, p.NumValues())
		n, err := p.Values().ReadValues(vals)
		if n != len(vals) || err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("column %d: %d of %d values: %v", c.Column(), n, len(vals), err)
		}
		for _, v := range vals {
			switch {
			case v.IsNull():
				out = append(out, nil)
			case v.Kind() == parquet.ByteArray:
				out = append(out, string(v.ByteArray()))
			case v.Kind() == parquet.Int32:
				out = append(out, int64(v.Int32()))
			default:
				out = append(out, v.Int64())
			}
		}
	}
}

type row struct {
	ev  *schema.Event
	rec []byte
}

// check compares a file with the records of its groups, field by field.
func check(t *testing.T, file []byte, groups ...[]Batch) {
	t.Helper()
	var rows []row
	for _, g := range groups {
		rows = append(rows, inOrder(g)...)
	}
	got := table(t, file)
	for c := range schema.Columns {
		if len(got[c]) != len(rows) {
			t.Fatalf("column %s: %d values, want %d", schema.Columns[c].Name, len(got[c]), len(rows))
		}
		for i, r := range rows {
			if want := expected(r.ev, r.rec, c, wall); got[c][i] != want {
				t.Fatalf("column %s row %d (%s): %#v, want %#v", schema.Columns[c].Name, i, r.ev.Name, got[c][i], want)
			}
		}
	}
}

func inOrder(g []Batch) []row {
	var rows []row
	for _, b := range g {
		for p := 0; p < len(b.Data); p += b.Event.Size() {
			rows = append(rows, row{b.Event, b.Data[p : p+b.Event.Size()]})
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return before(rows[i].rec, rows[j].rec) })
	return rows
}

func TestEveryEventRoundTrips(t *testing.T) {
	e := New(names{}, wall)
	for i := range schema.Events {
		ev := &schema.Events[i]
		for _, n := range []int{1, 2, 7, 8, 9, 33, 511, 512, 513, 5000} {
			t.Run(fmt.Sprintf("%s/%d", ev.Name, n), func(t *testing.T) {
				g := []Batch{{Event: ev, Data: records(ev, n, uint64(n))}}
				check(t, fileOf(t, e, g), g)
			})
		}
	}
}

func TestManyRowsRoundTrip(t *testing.T) {
	e := New(names{}, wall)
	for _, name := range []string{"tcp_rcv_est", "sock_io"} {
		g := []Batch{{Event: schema.ByName(name), Data: records(schema.ByName(name), 100_000, 3)}}
		check(t, fileOf(t, e, g), g)
	}
}

func TestMixedGroups(t *testing.T) {
	e := New(names{}, wall)
	var mixed, twice []Batch
	for i := range schema.Events {
		mixed = append(mixed, Batch{Event: &schema.Events[i], Data: shuffled(&schema.Events[i], records(&schema.Events[i], 40+i*3, 9))})
	}
	io := schema.ByName("sock_io")
	twice = append(twice, Batch{Event: io, Data: records(io, 600, 4)}, Batch{Event: io, Data: records(io, 700, 5)}, Batch{Event: schema.ByName("meta"), Data: nil})
	hot := []Batch{{Event: io, Data: records(io, 3000, 6)}}
	check(t, fileOf(t, e, mixed, hot, twice, mixed), mixed, hot, twice, mixed)
	for seed := range uint64(8) {
		var g []Batch
		for i := range schema.Events {
			g = append(g, Batch{Event: &schema.Events[i], Data: records(&schema.Events[i], 60, seed)})
		}
		check(t, fileOf(t, e, g), g)
	}
}

func shuffled(ev *schema.Event, data []byte) []byte {
	size := ev.Size()
	recs := slices.Collect(slices.Chunk(data, size))
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(recs), func(i, j int) { recs[i], recs[j] = recs[j], recs[i] })
	return slices.Concat(recs...)
}

func TestUnsortedBatchIsSorted(t *testing.T) {
	e := New(names{}, wall)
	ev := schema.ByName("tcp_rcv_est")
	data := shuffled(ev, records(ev, 3000, 8))
	g := []Batch{{Event: ev, Data: data}}
	check(t, fileOf(t, e, g), g)
}

func TestNoRows(t *testing.T) {
	e := New(names{}, wall)
	for _, batches := range [][]Batch{nil, {{Event: schema.ByName("meta")}}} {
		out, rg, err := e.Group([]byte("abc"), 0, batches...)
		if err != nil || string(out) != "abc" || rg.Rows != 0 {
			t.Fatalf("%q, %d rows, %v", out, rg.Rows, err)
		}
	}
}

func TestCutRecordIsRefused(t *testing.T) {
	e := New(names{}, wall)
	ev := schema.ByName("meta")
	if _, _, err := e.Group(nil, 0, Batch{Event: ev, Data: make([]byte, ev.Size()+1)}); !errors.Is(err, errRecord) {
		t.Fatalf("got %v", err)
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	e := New(constant{}, wall)
	for _, name := range []string{"tcp_rcv_est", "skb_alloc", "sock_io", "skb_drop"} {
		ev := schema.ByName(name)
		b := Batch{Event: ev, Data: records(ev, 3000, 1)}
		var dst []byte
		if n := testing.AllocsPerRun(5, func() {
			var err error
			if dst, _, err = e.Group(dst[:0], 0, b); err != nil {
				t.Fatal(err)
			}
		}); n > 2 {
			t.Errorf("%s: %.0f allocations per row group", name, n)
		}
	}
}

// constant is a Resolver that does not allocate.
type constant struct{}

func (constant) Enum(*schema.Enum, int64) string            { return "enum" }
func (constant) Ref(uint32) string                          { return "ref" }
func (constant) Ksym(uint64) string                         { return "ksym" }
func (constant) Cgroup(uint32) string                       { return "cgroup" }
func (constant) Stack(bool, int32, uint64, []uint64) string { return "a;b" }
