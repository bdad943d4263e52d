package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"netrec/internal/bench/rig"
	"netrec/record/reader"
)

func init() { rig.InitHold() } // does not return in a process that maps hostile files

// Bounds of a start beside hostile libraries: what it takes without them, and some room.
const (
	calmMemory = 256 << 20
	calmStart  = 30 * time.Second // beside a busy machine
)

// Whoever may run a program may map a C library of his own making, and serve it from a file
// system that stops to answer. The recorder starts all the same, and says what it left out.
func TestHostileLibraries(t *testing.T) {
	b := newBench(t, "a start beside hostile C libraries")
	bomb := filepath.Join(t.TempDir(), "libc.so.6")
	must(t, os.WriteFile(bomb, rig.Bomb(1024), 0o755))
	hung, err := rig.Serve(t.TempDir(), "libc.so.6", rig.Bomb(7))
	if err != nil {
		t.Skipf("left out: a C library on a hung FUSE file system: %v", err)
	}
	defer hung.Close()
	for _, path := range []string{bomb, hung.Path} {
		h, err := rig.Hold(path)
		must(t, err)
		t.Cleanup(h.Close) // after the file system is gone
	}
	hung.Hang()
	began := time.Now()
	rec, err := b.ns.Record(b.bin, filepath.Join(t.TempDir(), "cap.parquet"), "-e", "dns_call")
	must(t, err)
	took := time.Since(began)
	_, code, err := rec.End(syscall.SIGTERM)
	must(t, err)
	if code != 0 {
		t.Errorf("exit code %d:\n%s", code, rec.Said())
	}
	if took < reader.Patience || took > calmStart {
		t.Errorf("the start took %v, beside a file system that is waited for %v", took, reader.Patience)
	}
	if n := rec.Memory(); n > calmMemory {
		t.Errorf("the recorder took %d MiB", n>>20)
	}
	if !strings.Contains(rec.Said(), hung.Path) || !strings.Contains(rec.Said(), "does not answer") {
		t.Errorf("not said that the library on FUSE is left out:\n%s", rec.Said())
	}
	t.Logf("started within %v, %d MiB\n%s", took, rec.Memory()>>20, rec.Said())
}
