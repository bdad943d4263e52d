package capture

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"netrec/record/encode"
	"netrec/schema"
)

type names struct{}

func (names) Enum(e *schema.Enum, v int64) string        { return e.Lookup(v) }
func (names) Ref(id uint32) string                       { return fmt.Sprintf("ref-%d", id) }
func (names) Ksym(addr uint64) string                    { return fmt.Sprintf("sym_%x", addr) }
func (names) Cgroup(id uint32) string                    { return fmt.Sprintf("/g%d", id) }
func (names) Stack(bool, int32, uint64, []uint64) string { return "main;connect" }

// batch makes n records whose seq counts from first.
func batch(event string, n, first int) encode.Batch {
	ev := schema.ByName(event)
	data := make([]byte, n*ev.Size())
	for i := range n {
		h := (*schema.Header)(unsafe.Pointer(&data[i*ev.Size()]))
		h.TS, h.Seq, h.Event = uint64(1000*(first+i)), uint64(first+i), ev.ID
		h.Sock, h.Pid = 0xffff888000000000+uint64(i%7)*0x40, int32(i)
		copy(h.Comm[:], "curl")
	}
	return encode.Batch{Event: ev, Data: data}
}

func create(t testing.TB) (*Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cap.parquet")
	w, err := Create(path, false, "netrec test")
	if err != nil {
		t.Fatal(err)
	}
	return w, path
}

// seqs reads the column seq with a stock reader.
func seqs(t testing.TB, file []byte) []int64 {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var out []int64
	for _, rg := range f.RowGroups() {
		pages := rg.ColumnChunks()[schema.ColumnIndex("seq")].Pages()
		p, err := pages.ReadPage()
		if err != nil {
			t.Fatal(err)
		}
		vals := make([]parquet.Value, p.NumValues())
		p.Values().ReadValues(vals)
		for _, v := range vals {
			out = append(out, v.Int64())
		}
		pages.Close()
	}
	return out
}

// stockRows is how many rows a reader sees that starts at the trailer and, as
// pyarrow and DuckDB do, ignores what follows the footer's structure.
func stockRows(t testing.TB, file []byte) int64 {
	t.Helper()
	trailer := len(file) - schema.TrailerSize
	n := int(binary.LittleEndian.Uint32(file[trailer:]))
	if string(file[trailer+4:]) != schema.Magic || n > trailer {
		t.Fatalf("trailer % x", file[trailer:])
	}
	meta, _, err := new(format.FooterDecoder).Decode(file[trailer-n : trailer])
	must(t, err)
	return meta.NumRows
}

// walked is what a reader finds by following the frames.
type walked struct {
	frames []schema.Frame
	ends   []int64 // offset after each frame
	base   []byte
	groups [][]byte // Thrift
	meta   map[string]json.RawMessage
}

// footerAt is where the footer of a frame begins.
func (w *walked) footerAt(i int) int64 {
	return w.ends[i] - schema.TrailerSize - int64(w.frames[i].Footer)
}

var errBody = errors.New("body cut off or changed")

// walk follows the frames until the first that is not whole.
func walk(file []byte) (*walked, error) {
	w := &walked{meta: map[string]json.RawMessage{}}
	if len(file) < schema.FileStart || string(file[:4]) != schema.Magic {
		return w, errors.New("no start")
	}
	nonce := [schema.NonceSize]byte(file[4:])
	for at := int64(schema.FileStart); at < int64(len(file)); {
		f, err := schema.ParseFrame(file[at:], nonce, uint64(len(w.frames)))
		if err != nil {
			return w, err
		}
		if at+f.Len() > int64(len(file)) {
			return w, errBody
		}
		body := file[at+schema.FrameSize:][:f.Body]
		if crc32.Checksum(body, schema.Castagnoli) != f.BodyCRC {
			return w, errBody
		}
		if err := schema.Sections(body[len(body)-int(f.Checkpoint):], w.section); err != nil {
			return w, err
		}
		w.frames = append(w.frames, f)
		at += f.Len()
		w.ends = append(w.ends, at)
	}
	return w, nil
}

func (w *walked) section(kind uint32, data []byte) error {
	switch kind {
	case schema.SectionBase:
		w.base = data
		return nil
	case schema.SectionRowGroup:
		w.groups = append(w.groups, data)
		return nil
	case schema.SectionGroups:
		return w.unpack(data)
	case schema.SectionMeta:
		return json.Unmarshal(data, &w.meta)
	}
	return fmt.Errorf("section of kind %d", kind)
}

// unpack takes row groups apart.
func (w *walked) unpack(data []byte) error {
	unzip, err := zstd.NewReader(nil)
	if err != nil {
		return err
	}
	defer unzip.Close()
	b, err := unzip.DecodeAll(data[4:], nil)
	if err != nil || len(b) != int(binary.LittleEndian.Uint32(data)) {
		return fmt.Errorf("%d bytes of row groups where %d are said: %w", len(b), binary.LittleEndian.Uint32(data), err)
	}
	for in := bytes.NewReader(b); in.Len() > 0; {
		start := len(b) - in.Len()
		var g format.RowGroup
		if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(in)).Decode(&g); err != nil {
			return err
		}
		w.groups = append(w.groups, b[start:len(b)-in.Len()])
	}
	return nil
}

func (w *walked) rowGroups(t testing.TB) []format.RowGroup {
	t.Helper()
	groups := make([]format.RowGroup, len(w.groups))
	for i, b := range w.groups {
		must(t, thrift.Unmarshal(new(thrift.CompactProtocol), b, &groups[i]))
	}
	return groups
}

func (w *walked) rows(t testing.TB) (n int64) {
	t.Helper()
	for _, g := range w.rowGroups(t) {
		n += g.NumRows
	}
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryCommitLeavesAWholeFile(t *testing.T) {
	w, path := create(t)
	enc := encode.New(names{}, 0)
	rows := 0
	for i := range 40 {
		must(t, w.Add(enc, batch("tcp_rcv_est", 11+i, rows)))
		rows += 11 + i
		must(t, w.Add(enc, batch("meta", 3, rows), batch("lost", 2, rows+3)))
		rows += 5
		must(t, w.Set("netrec.losses", []schema.Count{{Event: "meta", Generated: int64(i)}}))
		must(t, w.Commit())
		file, err := os.ReadFile(path)
		must(t, err)
		if int64(len(file)) != w.Size() {
			t.Fatalf("commit %d: size %d, want %d", i, len(file), w.Size())
		}
		got, err := walk(file)
		must(t, err)
		if got.rows(t) != int64(rows) {
			t.Fatalf("commit %d: %d rows in %d frames", i, got.rows(t), len(got.frames))
		}
		if stock := stockRows(t, file); stock != int64(rows) {
			t.Fatalf("commit %d: a stock reader sees %d rows of %d", i, stock, rows)
		}
	}
	must(t, w.Close())
	file, err := os.ReadFile(path)
	must(t, err)
	for i, s := range seqs(t, file) {
		if s != int64(i) {
			t.Fatalf("row %d: seq %d", i, s)
		}
	}
	got, err := walk(file)
	must(t, err)
	if got.rows(t) != int64(rows) || w.Rows() != int64(rows) {
		t.Fatalf("%d rows, writer says %d, want %d", got.rows(t), w.Rows(), rows)
	}
	if last := got.frames[len(got.frames)-1]; last.Room != 0 || int(last.Footer) != len(file)-schema.TrailerSize-int(got.footerAt(len(got.frames)-1)) {
		t.Errorf("the last frame %+v is not one with a plain footer", last)
	}
}

func TestFooterEqualsTheLibrarys(t *testing.T) {
	w, path := create(t)
	enc := encode.New(names{}, 0)
	must(t, w.Set(schema.KeyHost, schema.Host{Name: "h", CPUs: 2}))
	must(t, w.Add(enc, batch("tcp_rcv_est", 100, 0)))
	must(t, w.Add(enc, batch("skb_drop", 5, 100)))
	must(t, w.Close())
	file, err := os.ReadFile(path)
	must(t, err)
	n := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	footer := file[len(file)-8-n : len(file)-8]
	var got format.FileMetaData
	must(t, thrift.Unmarshal(new(thrift.CompactProtocol), footer, &got))
	found, err := walk(file)
	must(t, err)
	var base format.FileMetaData
	must(t, thrift.Unmarshal(new(thrift.CompactProtocol), found.base, &base))

	want := encode.Base("netrec test")
	want.NumRows, want.RowGroups = 105, found.rowGroups(t)
	want.KeyValueMetadata = []format.KeyValue{{Key: schema.KeyFormat, Value: "1"},
		{Key: schema.KeyHost, Value: `{"name":"h","kernel":"","machine":"","boot_id":"","cpus":2,"zone":"","zone_offset_s":0}`}}
	for name, f := range map[string]*format.FileMetaData{"ours": &got, "base of the checkpoint": &base} {
		if f == &base {
			f.NumRows, f.RowGroups, f.KeyValueMetadata = want.NumRows, want.RowGroups, want.KeyValueMetadata
		}
		a, err := thrift.Marshal(new(thrift.CompactProtocol), f)
		must(t, err)
		b, err := thrift.Marshal(new(thrift.CompactProtocol), &want)
		must(t, err)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: the library encodes it in %d bytes, the wanted one in %d, and they differ", name, len(a), len(b))
		}
	}
}
