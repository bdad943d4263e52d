package scan_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"netrec/analyze/scan"
	"netrec/record/capture"
	"netrec/record/encode"
	"netrec/schema"
)

type names struct{}

func (names) Enum(e *schema.Enum, v int64) string { return e.Lookup(v) }
func (names) Ref(id uint32) string                { return fmt.Sprintf("ref-%d", id%9) }
func (names) Ksym(addr uint64) string             { return fmt.Sprintf("sym_%x", addr%64) }
func (names) Cgroup(id uint32) string             { return fmt.Sprintf("/g%d", id%8) }
func (names) Stack(user bool, pid int32, _ uint64, fr []uint64) string {
	return fmt.Sprint(user, pid%5, len(fr))
}

// records makes n records of an event with random contents behind a sane header.
func records(r *rand.Rand, e *schema.Event, n int, ts *uint64) encode.Batch {
	data := make([]byte, n*e.Size())
	for i := range data {
		sparse := r.Uint32() // half of the bits of a random byte
		data[i] = byte(sparse) & byte(sparse>>8)
	}
	for i := range n {
		h := (*schema.Header)(unsafe.Pointer(&data[i*e.Size()]))
		*ts += r.Uint64N(50)
		*h = schema.Header{TS: *ts, Seq: *ts * 3, Event: e.ID, CPU: uint16(i % 3), Sock: 0xffff888000000000 + r.Uint64N(20)*0x40,
			Skb: r.Uint64(), Pid: int32(r.IntN(50)), Tid: int32(r.IntN(50)), Netns: 4026531840}
		copy(h.Comm[:], fmt.Sprintf("comm-%d", r.IntN(9)))
	}
	return encode.Batch{Event: e, Data: data}
}

// record writes a capture of all events and returns its path. Rare events share a
// row group per commit, hot ones have their own, as the recorder does it.
func record(t *testing.T, commits, rows int, end string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cap.parquet")
	w, err := capture.Create(path, false, "netrec test")
	must(t, err)
	enc := encode.New(names{}, 1_700_000_000_000_000_000)
	must(t, w.Set(schema.KeyFormat, schema.FormatVersion))
	must(t, w.Set(schema.KeyVersion, "test"))
	must(t, w.Set(schema.KeyHost, schema.Host{Name: "host", Kernel: "6.1", CPUs: 3}))
	r := rand.New(rand.NewPCG(1, 1))
	ts := uint64(1000)
	for range commits {
		var rare []encode.Batch
		start := ts
		for i := range schema.Events {
			e := &schema.Events[i]
			at := start // all events of a commit overlap
			b := records(r, e, rows+r.IntN(rows), &at)
			ts = max(ts, at)
			if e.Rare() {
				rare = append(rare, b)
				continue
			}
			must(t, w.Add(enc, b))
		}
		must(t, w.Add(enc, rare...))
		must(t, w.Set(schema.KeyLosses, []schema.Count{{Event: "lost", CPU: 1, Generated: int64(ts), Recorded: int64(ts)}}))
		must(t, w.Commit())
	}
	must(t, w.Set(schema.KeyRecording, schema.Recording{End: end, Events: []string{"all"}}))
	must(t, w.Close())
	return path
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// stock reads all rows with parquet-go, as text, with the event's name and
// ts_ns, cpu and seq in front so that sorting is the order of a scan.
func stock(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	must(t, err)
	var out []string
	for _, g := range f.RowGroups() {
		rows := make([][]string, g.NumRows())
		for _, chunk := range g.ColumnChunks() {
			values := make([]parquet.Value, 0, len(rows))
			pages := chunk.Pages()
			for {
				p, err := pages.ReadPage()
				if err == io.EOF {
					break
				}
				must(t, err)
				vs := make([]parquet.Value, p.NumValues())
				n, _ := p.Values().ReadValues(vs)
				for _, v := range vs[:n] {
					values = append(values, v.Clone())
				}
			}
			must(t, pages.Close())
			for i, v := range values {
				rows[i] = append(rows[i], cell(v))
			}
		}
		for _, r := range rows {
			out = append(out, strings.Join(r, "|"))
		}
	}
	return out
}

func cell(v parquet.Value) string {
	switch v.Kind() {
	case parquet.Int32:
		return fmt.Sprint(v.Int32())
	case parquet.Int64:
		return fmt.Sprint(v.Int64())
	case parquet.ByteArray:
		return string(v.ByteArray())
	}
	return "NULL"
}

func text(r *scan.Row) string {
	var cells []string
	for c, col := range schema.Columns {
		switch c := scan.Col(c); {
		case !r.HasAt(c):
			cells = append(cells, "NULL")
		case col.Type == schema.String:
			cells = append(cells, r.Str(scan.StrAt(c)))
		default:
			cells = append(cells, fmt.Sprint(r.Int(scan.IntAt(c))))
		}
	}
	return strings.Join(cells, "|")
}

// TestCaptureAgainstStockReader compares every value of every event with what
// another reader finds in the same file.
func TestCaptureAgainstStockReader(t *testing.T) {
	path := record(t, 5, 150, "timer")
	f, err := scan.Open(path, scan.Options{})
	must(t, err)
	defer f.Close()
	var got []string
	var last [3]int64
	seq, cpu := scan.Col(schema.ColumnIndex("seq")), scan.Col(schema.ColumnIndex("cpu"))
	must(t, f.Scan(scan.Query{}, func(r *scan.Row) error {
		got = append(got, text(r))
		key := [3]int64{r.TS, r.Int(scan.IntAt(cpu)), r.Int(scan.IntAt(seq))}
		if slices.Compare(key[:], last[:]) < 0 {
			t.Fatalf("%v after %v", key, last)
		}
		last = key
		return nil
	}))
	want := stock(t, path)
	slices.Sort(got)
	slices.Sort(want)
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("row %d:\n got %s\nwant %s", i, got[i], want[i])
		}
	}
	m := f.Meta()
	if len(m.Problems) > 0 || m.Host.Name != "host" || m.Version != "test" || m.Recording.End != "timer" || len(m.Losses) != 1 {
		t.Errorf("meta %+v", m)
	}
	total := int64(0)
	for _, n := range m.Rows {
		total += n
	}
	if total != int64(len(want)) || len(m.Rows) != len(schema.Events) {
		t.Errorf("%d rows of %d events in Meta, want %d of %d", total, len(m.Rows), len(want), len(schema.Events))
	}
}

// TestCutCapture cuts a real capture at many lengths and flips bits in it: what
// is delivered was written, and what is intact is delivered.
func TestCutCapture(t *testing.T) {
	path := record(t, 4, 12, "timer")
	data, err := os.ReadFile(path)
	must(t, err)
	written := map[string]bool{}
	for _, s := range stock(t, path) {
		written[s] = true
	}
	p := filepath.Join(t.TempDir(), "cut.parquet")
	try := func(b []byte, mustTell bool) int {
		must(t, os.WriteFile(p, b, 0o600))
		f, err := scan.Open(p, scan.Options{})
		if err != nil {
			return 0
		}
		defer f.Close()
		if mustTell && len(f.Meta().Problems) == 0 {
			t.Error("nothing said about the damage")
		}
		n := 0
		must(t, f.Scan(scan.Query{}, func(r *scan.Row) error {
			n++
			if !written[text(r)] {
				t.Fatalf("a row that nobody wrote: %s", text(r))
			}
			return nil
		}))
		return n
	}
	last := 0
	for n := 0; n < len(data); n += len(data)/499 | 1 {
		rows := try(data[:n], true)
		if rows < last {
			t.Fatalf("%d rows at %d bytes after %d at fewer", rows, n, last)
		}
		last = rows
	}
	if last != len(written) {
		t.Errorf("%d rows of %d", last, len(written))
	}
	r := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		b := bytes.Clone(data)
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		// A flip in a footer that a newer one replaced matters to nobody.
		if rows := try(b, false); rows < len(written)/2 && rows > 0 {
			t.Errorf("%d rows of %d after one flipped bit", rows, len(written))
		}
	}
}

// A recording that was killed and whose first commit, which has the schema, is damaged: the
// growing footer behind it has the schema too.
func TestSchemaOfAGrowingFooter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cap.parquet")
	w, err := capture.Create(path, false, "netrec test")
	must(t, err)
	enc, r, ts := encode.New(names{}, 0), rand.New(rand.NewPCG(1, 1)), uint64(1000)
	for range 5 {
		must(t, w.Add(enc, records(r, schema.ByName("tcp_rcv_est"), 30, &ts)))
		must(t, w.Commit())
		if f, err := scan.Open(path, scan.Options{}); err != nil || len(f.Meta().Problems) != 1 {
			t.Errorf("beside the missing stop mark: %q, %v", f.Meta().Problems, err)
		}
	}
	file, err := os.ReadFile(path)
	must(t, err)
	must(t, w.Close())
	file[schema.FileStart+schema.FrameSize] ^= 1
	must(t, os.WriteFile(path, file, 0o600))
	f, err := scan.Open(path, scan.Options{})
	must(t, err)
	defer f.Close()
	if rows := f.Meta().Rows["tcp_rcv_est"]; rows != 4*30 {
		t.Errorf("%d rows, want those of all commits but the first; %q", rows, f.Meta().Problems)
	}
}
