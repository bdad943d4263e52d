package capture

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"netrec/record/encode"
	"netrec/schema"
)

// smallDisk is a file on a disk of limit bytes.
type smallDisk struct {
	disk
	limit     int64
	noReserve bool
	punched   []span
}

func (d *smallDisk) Reserve(off, n int64) error {
	switch {
	case d.noReserve:
		return syscall.EOPNOTSUPP
	case off+n > d.limit:
		return syscall.ENOSPC
	}
	return nil
}

// WriteAt writes what fits, as write(2) does.
func (d *smallDisk) WriteAt(b []byte, off int64) (int, error) {
	if off+int64(len(b)) <= d.limit {
		return d.disk.WriteAt(b, off)
	}
	n, err := d.disk.WriteAt(b[:max(0, d.limit-off)], off)
	return n, errors.Join(err, syscall.ENOSPC)
}

func (d *smallDisk) Punch(off, n int64) error {
	d.punched = append(d.punched, span{off, n})
	return d.disk.Punch(off, n)
}

func onSmallDisk(t *testing.T, limit int64, noReserve bool) (*Writer, *smallDisk, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cap.parquet")
	f, err := os.Create(path)
	must(t, err)
	d := &smallDisk{disk: disk{File: f}, limit: limit, noReserve: noReserve}
	w, err := newWriter(d, "netrec test")
	must(t, err)
	return w, d, path
}

// fillUp commits until the disk is full and returns the rows in the file.
func fillUp(t *testing.T, w *Writer, enc *encode.Encoder, rows int) int {
	t.Helper()
	for range 10_000 {
		must(t, w.Add(enc, batch("tcp_rcv_est", 1000, rows)))
		err := w.Commit()
		var lost *LostError
		if errors.As(err, &lost) {
			if lost.Rows != 1000 || !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("%d rows lost: %v", lost.Rows, err)
			}
			return rows
		}
		must(t, err)
		rows += 1000
	}
	t.Fatal("the disk never filled up")
	return 0
}

// checkRows compares the file with what was committed, the readers' way and by frames.
func checkRows(t *testing.T, path string, rows int) *walked {
	t.Helper()
	file, err := os.ReadFile(path)
	must(t, err)
	got, err := walk(file)
	must(t, err)
	if got.rows(t) != int64(rows) {
		t.Fatalf("%d rows, want %d", got.rows(t), rows)
	}
	return got
}

func TestFullDisk(t *testing.T) {
	for _, noReserve := range []bool{false, true} {
		w, d, path := onSmallDisk(t, 2<<20, noReserve)
		enc := encode.New(names{}, 0)
		rows := fillUp(t, w, enc, 0)
		checkRows(t, path, rows)
		if again := fillUp(t, w, enc, rows); again != rows {
			t.Errorf("%d rows written to a full disk", again-rows)
		}
		d.limit += 2 << 20
		rows = fillUp(t, w, enc, rows)
		if noReserve {
			d.limit += 8 << 20 // nothing was kept for Close
		}
		must(t, w.Set(schema.KeyLosses, "told"))
		must(t, w.Close())
		got := checkRows(t, path, rows)
		if string(got.meta[schema.KeyLosses]) != `"told"` {
			t.Errorf("metadata %s", got.meta[schema.KeyLosses])
		}
		file, err := os.ReadFile(path)
		must(t, err)
		for i, s := range seqs(t, file) {
			if s != int64(i) {
				t.Fatalf("row %d: seq %d", i, s)
			}
		}
	}
}

func TestRowsPendingAtCloseAreReported(t *testing.T) {
	w, _, path := onSmallDisk(t, 2<<20, false)
	enc := encode.New(names{}, 0)
	rows := fillUp(t, w, enc, 0)
	for range 100 {
		must(t, w.Add(enc, batch("tcp_rcv_est", 777, rows)))
	}
	var lost *LostError
	if err := w.Close(); !errors.As(err, &lost) || lost.Rows != 77_700 {
		t.Fatalf("got %v", err)
	}
	checkRows(t, path, rows)
}

// The few rows that tell of losses have room in the reserve.
func TestFewRowsPendingAtCloseAreWrittenToAFullDisk(t *testing.T) {
	w, _, path := onSmallDisk(t, 2<<20, false)
	enc := encode.New(names{}, 0)
	rows := fillUp(t, w, enc, 0)
	must(t, w.Add(enc, batch("lost", 77, rows)))
	must(t, w.Close())
	checkRows(t, path, rows+77)
}

func TestOnlyDeadFootersArePunched(t *testing.T) {
	w, d, path := onSmallDisk(t, 1<<30, false)
	enc := encode.New(names{}, 0)
	for i := range 60 {
		must(t, w.Add(enc, batch("tcp_rcv_est", 2000, 2000*i)))
		must(t, w.Commit())
	}
	must(t, w.Close())
	if len(d.punched) == 0 {
		t.Fatal("nothing punched")
	}
	got := checkRows(t, path, 60*2000)
	for _, p := range d.punched {
		inside := false
		for i := range len(got.frames) - 1 {
			from := got.footerAt(i)
			inside = inside || p.off >= from && p.off+p.n <= from+int64(got.frames[i].Footer)
		}
		if !inside {
			t.Errorf("punched %d bytes at %d, which is no dead footer", p.n, p.off)
		}
	}
}

// TestRealFullDisk fills a file system of two megabytes, where the tests may mount one.
func TestRealFullDisk(t *testing.T) {
	dir := t.TempDir()
	done := make(chan struct{})
	go func() { // the thread of a changed mount namespace ends with its goroutine
		defer close(done)
		runtime.LockOSThread()
		if err := mountSmall(dir); err != nil {
			t.Logf("mount a tmpfs: %v; TestFullDisk covers the same without one", err)
			return
		}
		path := filepath.Join(dir, "cap.parquet")
		w, err := Create(path, false, "netrec test")
		if err != nil {
			t.Error(err)
			return
		}
		enc := encode.New(names{}, 0)
		rows := fillUp(t, w, enc, 0)
		checkRows(t, path, rows)
		if err := errors.Join(w.Set(schema.KeyLosses, "told"), w.Close()); err != nil {
			t.Error(err)
		}
		if got := checkRows(t, path, rows); rows == 0 || string(got.meta[schema.KeyLosses]) != `"told"` {
			t.Errorf("%d rows, metadata %s", rows, got.meta[schema.KeyLosses])
		}
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil || st.Blocks*512 > w.Size()+4096 {
			t.Errorf("%d bytes held by a file of %d: the reserve was not released (%v)", st.Blocks*512, w.Size(), err)
		}
	}()
	<-done
}

func mountSmall(dir string) error {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	return unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m")
}
