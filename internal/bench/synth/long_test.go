package synth

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"netrec/analyze/scan"
	"netrec/record/capture"
	"netrec/record/encode"
)

// TestLongRecording writes what a busy host makes in hours, without the waiting: commits of
// many row groups, into one file after the other. Memory does not grow with the row groups of a
// file, nor from file to file, and no file has more row groups than readers are promised.
func TestLongRecording(t *testing.T) {
	const files, promised = 2, 4096
	enc := encode.New(names{}, 0)
	h, hot := hotBatches(t)
	dir := t.TempDir()
	var first, most uint64
	var path string
	for i := range files {
		path = filepath.Join(dir, fmt.Sprintf("%d.parquet", i))
		w, err := capture.Create(path, false, "netrec synth")
		must(t, err)
		groups, rows := 0, int64(0)
		for commit := 0; !w.Full(); commit++ {
			for _, b := range hot {
				must(t, w.Add(enc, b))
				rows += int64(len(b.Data) / b.Event.Size())
			}
			groups += len(hot)
			must(t, w.Commit())
			if commit%50 == 0 {
				most = max(most, live())
			}
			if i == 0 && commit == 0 {
				first = live()
			}
		}
		t.Logf("file %d: %d row groups, %d rows, %d bytes; %d bytes of heap", i, groups, rows, w.Size(), live())
		must(t, describe(w, h, true))
		must(t, w.Close())
		if groups > promised {
			t.Errorf("%d row groups, %d are promised", groups, promised)
		}
		checkRows(t, path, rows)
	}
	const grow = 16 << 20
	if most > first+grow {
		t.Errorf("the heap grew from %d to %d bytes, by more than %d", first, most, grow)
	}
}

// hotBatches is a commit of synthetic rows: of every event that has as many, a row group.
func hotBatches(t *testing.T) (h *host, hot []encode.Batch) {
	t.Helper()
	const rows = 200 // enough for the metadata of a row group; the fewer, the faster the test
	h = newHost(1, Start)
	for h.rows < 8000 {
		h.scene()
	}
	for _, m := range h.all {
		if size := m.event.Size(); len(m.data) >= rows*size {
			hot = append(hot, encode.Batch{Event: m.event, Data: m.data[:rows*size]})
		}
	}
	if len(hot) < 5 {
		t.Fatalf("%d hot events", len(hot))
	}
	return h, hot
}

// live is the bytes of heap in use.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func checkRows(t *testing.T, path string, rows int64) {
	t.Helper()
	f, err := scan.Open(path, scan.Options{})
	must(t, err)
	defer f.Close()
	var got int64
	for _, n := range f.Meta().Rows {
		got += n
	}
	if got != rows || len(f.Meta().Problems) > 0 {
		t.Errorf("%s: %d rows, want %d; %q", filepath.Base(path), got, rows, f.Meta().Problems)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
