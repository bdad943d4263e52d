package capture

import (
	"errors"
	"os"
	"testing"
	"time"
	"unsafe"

	"netrec/record/encode"
	"netrec/schema"
)

func TestFullAfterAnHour(t *testing.T) {
	w, _ := create(t)
	w.now = func() time.Time { return w.started.Add(maxAge - time.Second) }
	if w.Full() {
		t.Error("full too early")
	}
	w.now = func() time.Time { return w.started.Add(maxAge) }
	if !w.Full() {
		t.Error("not full after an hour")
	}
	must(t, w.Close())
}

func TestFooterIsRenewed(t *testing.T) {
	const all = 1 << 20 // bytes of the footer
	for _, tc := range []struct {
		start int64 // of the structure in a footer at 1000
		since int64
		stale bool
		want  bool
	}{
		{0, 0, false, true},
		{1000 + 99, 0, false, true},
		{1000 + 100, 0, false, false},
		{1000 + 100, 0, true, true},
		{1000 + 100, reachShare*all - 1, false, false},
		{1000 + 100, reachShare * all, false, true},
	} {
		w := &Writer{open: growing{all: span{1000, all}, start: tc.start, stale: tc.stale}, end: 1000 + all + tc.since}
		if got := w.renewDue(100); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

// One small commit a second is the worst case: its row groups are mostly metadata. All
// footers together are then a few times the last, and a commit adds next to nothing to the heap.
func TestAnHourOfFewRows(t *testing.T) {
	w, d, path := onSmallDisk(t, 1<<30, true)
	enc := encode.New(names{}, 0)
	commits, rows := 0, 0
	for ; !w.Full(); commits++ {
		must(t, w.Add(enc, batch("meta", 5, rows)))
		rows += 5
		must(t, w.Commit())
		if w.open.stale {
			t.Fatalf("commit %d: no room in the footer", commits)
		}
	}
	var footers int64
	for _, s := range w.dead {
		footers += s.n
	}
	kept := cap(w.written.sections)*int(unsafe.Sizeof(section{})) + cap(w.written.packed) + cap(w.written.thrift)
	if groups := w.written.n; groups != commits || groups > 4096 {
		t.Errorf("%d row groups of %d commits", groups, commits)
	}
	if most := 3 * w.written.bytes; footers+w.open.all.n > 2*most {
		t.Errorf("footers of %d bytes for %d bytes of row groups", footers+w.open.all.n, w.written.bytes)
	}
	if kept > 256<<10 || cap(w.buf)+cap(w.scratch) > 4<<20 {
		t.Errorf("%d bytes of row groups and %d of buffers are kept in memory", kept, cap(w.buf)+cap(w.scratch))
	}
	t.Logf("%d commits, a file of %d bytes, row groups of %d bytes, %d kept, %d footers of %d bytes", commits, w.Size(), w.written.bytes, kept, len(w.dead)+1, footers+w.open.all.n)
	must(t, w.Close())
	var back int64
	for _, s := range d.punched {
		back += s.n
	}
	if most := w.Taken() + int64(len(d.punched))*2*punchBlock; back == 0 || w.Size()-back > most {
		t.Errorf("%d of %d bytes were given back, %d should stay", back, w.Size(), w.Taken())
	}
	checkRows(t, path, rows)
}

// Row groups are read back from the file. What another program made of them there is not taken for them.
func TestChangedRowGroups(t *testing.T) {
	w, path := create(t)
	enc := encode.New(names{}, 0)
	must(t, w.Add(enc, batch("meta", 5, 0)))
	must(t, w.Commit())
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte("changed"), w.written.sections[0].off)
	must(t, errors.Join(err, f.Close()))
	if err := w.Close(); !errors.Is(err, errChanged) {
		t.Errorf("closed with %v", err)
	}
	if err := w.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed again with %v", err)
	}
}

func TestNothingNewWritesNothing(t *testing.T) {
	w, _ := create(t)
	must(t, w.Set(schema.KeyVersion, "1"))
	must(t, w.Commit())
	size := w.Size()
	must(t, w.Set(schema.KeyVersion, "1"))
	must(t, w.Commit())
	if w.Size() != size {
		t.Errorf("grew from %d to %d", size, w.Size())
	}
	must(t, w.Close())
}

func TestSyncRunsBesideTheWriter(t *testing.T) {
	w, path := create(t)
	clock := time.Now()
	w.now = func() time.Time { return clock }
	for i := range 5 {
		clock = clock.Add(syncEvery)
		must(t, w.Set("n", i))
		must(t, w.Commit())
	}
	must(t, w.Close())
	if w.sync.dir != nil {
		t.Error("the name was never synced")
	}
	checkRows(t, path, 0)
}

func BenchmarkCommit(b *testing.B) {
	enc := encode.New(names{}, 0)
	rows := batch("tcp_rcv_est", 4096, 0)
	var w *Writer
	var bytes int64
	for b.Loop() {
		if w == nil || w.Full() {
			if w != nil {
				must(b, w.Close())
			}
			w, _ = create(b)
		}
		must(b, w.Add(enc, rows))
		before := w.Size()
		must(b, w.Commit())
		bytes += w.Size() - before
	}
	must(b, w.Close())
	b.ReportMetric(float64(bytes)/float64(b.N), "B/commit")
	b.ReportMetric(float64(b.Elapsed())/float64(b.N*4096), "ns/row")
}
