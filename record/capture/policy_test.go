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

func TestFooterDue(t *testing.T) {
	for _, tc := range []struct {
		seq   uint64
		since int64 // bytes since a footer of 100
		after time.Duration
		want  bool
	}{
		{0, 0, 0, true},
		{firstFooters - 1, 0, 0, true},
		{firstFooters, 0, 0, false},
		{firstFooters, 1999, 0, false},
		{firstFooters, 2000, 0, true},
		{firstFooters, 1999, footerEvery - 1, false},
		{firstFooters, 599, footerEvery, false},
		{firstFooters, 600, footerEvery, true},
	} {
		now := time.Now()
		w := &Writer{seq: tc.seq, footerOff: 1000, footerLen: 100, footerAt: now, end: 1100 + tc.since,
			now: func() time.Time { return now.Add(tc.after) }}
		if got := w.footerDue(); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

// One small commit a second is the worst case: its row groups are mostly metadata.
func TestFootersStayASmallPart(t *testing.T) {
	w, d, _ := onSmallDisk(t, 1<<30, true)
	enc := encode.New(names{}, 0)
	clock := w.started
	w.now = func() time.Time { return clock }
	var footers int64
	for i := range 1000 {
		clock = clock.Add(time.Second)
		must(t, w.Add(enc, batch("meta", 5, 5*i)))
		old := w.footerOff
		must(t, w.Commit())
		if w.footerOff != old {
			footers += w.footerLen
		}
	}
	if footers > w.Size()/3 {
		t.Errorf("footers are %d of %d bytes", footers, w.Size())
	}
	must(t, w.Close())
	if len(d.punched) == 0 {
		t.Error("no dead footer was given back")
	}
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
