package record_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netrec/internal/bench/rig"
)

// Requests of linux/fs.h.
const (
	freeze = 0xc0045877 // FIFREEZE
	thaw   = 0xc0045878 // FITHAW
)

// slowDisk is a file system of its own, whose writes can be made to wait.
func slowDisk(t *testing.T) (dir string, ask func(request uint)) {
	t.Helper()
	image := filepath.Join(t.TempDir(), "disk")
	must(t, os.WriteFile(image, nil, 0o600))
	must(t, os.Truncate(image, 64<<20))
	dir = t.TempDir()
	for _, args := range [][]string{{"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, dir}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no file system of our own here (%s: %v, %s): not checked: a disk that does not answer", args[0], err, out)
		}
	}
	must(t, os.Chmod(dir, 0o777))
	d, err := os.Open(dir)
	must(t, err)
	ask = func(request uint) { _ = unix.IoctlSetInt(int(d.Fd()), request, 0) }
	t.Cleanup(func() {
		ask(thaw)
		d.Close()
		_ = unix.Unmount(dir, unix.MNT_DETACH)
	})
	return dir, ask
}

// TestStalledDisk: a disk that does not answer is told of, a signal is heard all the same, and
// nothing is lost if the disk comes back.
func TestStalledDisk(t *testing.T) {
	b := newBench(t, "a disk that does not answer")
	dir, ask := slowDisk(t)
	path := filepath.Join(dir, "cap.parquet")
	rec, err := b.ns.Record(b.bin, path)
	must(t, err)
	load, err := b.ns.StartLoad(rig.Rates{Rounds: 20, Connects: 5})
	must(t, err)
	time.Sleep(time.Second)
	ask(freeze)
	time.Sleep(9 * time.Second)
	sides, err := load.Stop()
	must(t, err)
	_, err = rec.Signal(syscall.SIGINT)
	must(t, err)
	time.Sleep(4 * time.Second)
	ask(thaw)
	if code := rec.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	at := 0
	for _, want := range []string{"the disk has not answered for ", "waiting for the disk to finish the file", "lost: none"} {
		i := strings.Index(rec.Said()[at:], want)
		if i < 0 {
			t.Fatalf("%q is not said, or not in its turn:\n%s", want, rec.Said())
		}
		at += i
	}
	read(t, path).balance(t, sides)
}
