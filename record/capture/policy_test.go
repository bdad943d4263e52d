package capture

import (
	"testing"
	"time"

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

func TestFooterIsDueAfterTenSeconds(t *testing.T) {
	w, path := create(t)
	enc := encode.New(names{}, 0)
	clock := time.Now()
	w.now = func() time.Time { return clock }
	var want []bool
	for i := range 12 {
		clock = clock.Add(time.Second)
		want = append(want, i < firstFooters || i == firstFooters-1+10)
		must(t, w.Add(enc, batch("meta", 1, i)))
		must(t, w.Commit())
	}
	got := checkRows(t, path, 12)
	for i, f := range got.frames {
		if (f.Footer > 0) != want[i] {
			t.Errorf("commit %d: footer of %d bytes, want one: %v", i, f.Footer, want[i])
		}
	}
	must(t, w.Close())
}

func TestNothingNewWritesNothing(t *testing.T) {
	w, _ := create(t)
	must(t, w.Set(schema.KeyVersion, "1"))
	must(t, w.Commit())
	size := w.Size()
	must(t, w.Set(schema.KeyVersion, "1"))
	must(t, w.Commit())
	must(t, w.Close())
	if w.Size() != size {
		t.Errorf("grew from %d to %d", size, w.Size())
	}
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
