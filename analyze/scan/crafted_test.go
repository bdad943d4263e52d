package scan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"netrec/schema"
)

// TestCraftedFooter changes one thing in the footer of a good file each.
func TestCraftedFooter(t *testing.T) {
	groups, _ := sample(400)
	good := plainFile(t, nil, groups, parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(1))
	meta := func(m *format.FileMetaData, name string) *format.ColumnMetaData {
		for i := range m.RowGroups[0].Columns {
			if c := &m.RowGroups[0].Columns[i].MetaData; c.PathInSchema[0] == name {
				return c
			}
		}
		t.Fatalf("no column %s", name)
		return nil
	}
	for _, c := range []struct {
		name string
		edit func(*format.FileMetaData)
		want error
	}{
		{"rows of the file", func(m *format.FileMetaData) { m.NumRows++ }, ErrDamaged},
		{"rows of a group", func(m *format.FileMetaData) { m.RowGroups[0].NumRows = 1 << 40 }, ErrLimit},
		{"negative rows", func(m *format.FileMetaData) { m.RowGroups[0].NumRows = -1 }, ErrDamaged},
		{"values", func(m *format.FileMetaData) { meta(m, "pid").NumValues++ }, ErrDamaged},
		{"huge column", func(m *format.FileMetaData) { meta(m, "pid").TotalCompressedSize = 1 << 40 }, ErrLimit},
		{"huge pages", func(m *format.FileMetaData) { meta(m, "pid").TotalUncompressedSize = math.MaxInt64 }, ErrLimit},
		{"negative size", func(m *format.FileMetaData) { meta(m, "pid").TotalCompressedSize = -5 }, ErrDamaged},
		{"past the end", func(m *format.FileMetaData) { meta(m, "skb").DataPageOffset = int64(len(good)) }, ErrDamaged},
		{"wrapped offset", func(m *format.FileMetaData) { meta(m, "skb").DataPageOffset = math.MaxInt64 - 4 }, ErrDamaged},
		{"before the start", func(m *format.FileMetaData) { meta(m, "skb").DataPageOffset = 0 }, ErrDamaged},
		{"shared bytes", func(m *format.FileMetaData) { meta(m, "skb").DataPageOffset = meta(m, "seq").DataPageOffset }, ErrDamaged},
		{"shared groups", func(m *format.FileMetaData) {
			m.NumRows += m.RowGroups[0].NumRows
			m.RowGroups = append(m.RowGroups, m.RowGroups[0])
		}, ErrDamaged},
		{"columns swapped", func(m *format.FileMetaData) {
			cs := m.RowGroups[0].Columns
			cs[0], cs[1] = cs[1], cs[0]
		}, ErrDamaged},
		{"missing column", func(m *format.FileMetaData) { m.RowGroups[0].Columns = m.RowGroups[0].Columns[1:] }, ErrDamaged},
		{"other file", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].FilePath = "/etc/passwd" }, ErrUnsupport},
		{"codec", func(m *format.FileMetaData) { meta(m, "pid").Codec = format.Brotli }, ErrUnsupport},
		{"no such codec", func(m *format.FileMetaData) { meta(m, "pid").Codec = 99 }, ErrUnsupport},
		{"encoding", func(m *format.FileMetaData) { meta(m, "pid").Encoding[0] = format.ByteStreamSplit }, ErrUnsupport},
		{"nested", func(m *format.FileMetaData) { m.Schema[0].NumChildren.V = 1 }, ErrUnsupport},
		{"filter", func(m *format.FileMetaData) { meta(m, "sock").BloomFilterOffset = int64(len(good)) }, ErrDamaged},
		{"newer", func(m *format.FileMetaData) {
			m.KeyValueMetadata = append(m.KeyValueMetadata, format.KeyValue{Key: schema.KeyFormat, Value: "2"})
		}, ErrNewer},
		{"no ts_ns", func(m *format.FileMetaData) {
			for i := range m.Schema {
				if m.Schema[i].Name == "ts_ns" {
					m.Schema[i].Name = "time"
				}
			}
			for i := range m.RowGroups {
				for k := range m.RowGroups[i].Columns {
					if c := &m.RowGroups[i].Columns[k].MetaData; c.PathInSchema[0] == "ts_ns" {
						c.PathInSchema[0] = "time"
					}
				}
			}
		}, ErrNotCapture},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := attempt(t, withFooter(t, good, c.edit), nil)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

func TestNotCaptures(t *testing.T) {
	trailer := func(n uint32) string { return string(binary.LittleEndian.AppendUint32(nil, n)) + "PAR1" }
	for _, c := range []struct {
		name, data string
		want       error
	}{
		{"empty", "", ErrNotCapture},
		{"text", "hello, world, this is no capture", ErrNotCapture},
		{"magic", "PAR1", ErrNotCapture},
		{"twelve bytes", "PAR1" + trailer(0xffffffff), ErrDamaged},
		{"twelve bytes, no footer", "PAR1" + trailer(0), ErrDamaged},
		{"footer of nothing", "PAR1" + "\x00" + trailer(1), ErrDamaged},
		{"list without end", "PAR1" + "\x15\x02\x19\xfc\xff\xff\xff\xff\x0f" + trailer(9), ErrDamaged},
		{"deep", "PAR1" + strings.Repeat("\x6c", 4000) + trailer(4000), ErrDamaged},
		{"encrypted", "PAR1" + strings.Repeat("x", 90) + "\x08\x00\x00\x00PARE", ErrUnsupport},
		{"nonce only", "PAR1" + strings.Repeat("n", 16), ErrDamaged},
		{"half a frame", "PAR1" + strings.Repeat("n", 16) + "nrFRAME\x01nnn", ErrDamaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := attempt(t, []byte(c.data), nil); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

func TestOpenRefusesWhatIsNotAFile(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	must(t, syscall.Mkfifo(fifo, 0o600))
	for _, path := range []string{dir, fifo, "/dev/zero"} {
		if _, err := Open(path, Options{}); !errors.Is(err, ErrNotCapture) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	groups, want := sample(40)
	must(t, os.WriteFile(filepath.Join(dir, "real"), plainFile(t, nil, groups), 0o600))
	link := filepath.Join(dir, "link")
	must(t, os.Symlink("real", link))
	f, err := Open(link, Options{})
	must(t, err)
	defer f.Close()
	got, err := scanAll(f, Query{})
	must(t, err)
	same(t, got, want)
}

// TestForgedFooter ends a recording right after a string that is a complete
// Parquet footer, as a kill at the wrong moment would.
func TestForgedFooter(t *testing.T) {
	forged := rowAt(99, "tcp_state")
	evil := plainFile(t, nil, [][]wide{{forged}})
	row := rowAt(1, "skb_drop")
	row.Kstack = ptr(string(evil))
	first := rowAt(0, "tcp_state")
	second := framedFile(t, [][][]wide{{{first}}, {{row}}}, nil)
	// The page is compressed in the file, so lay the string down in the clear.
	cut := append(bytes.Clone(second[:frameEnds(t, second)[0]+200]), evil...)
	rows, err := attempt(t, cut, map[string]bool{first.String(): true})
	if rows != 1 || err != nil {
		t.Errorf("%d rows, %v", rows, err)
	}
}
