package killtest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netrec/internal/bench/rig"
)

// The disk: too small for the load's recording, with a file in the way whose removal
// lets the recorder go on.
const (
	diskBytes    = 3 << 20
	ballastBytes = 1 << 20
)

// TestFullDisk records to a disk that fills up, is given room, and fills up again: the
// recorder goes on to the end, and every event is in the file or counted.
func TestFullDisk(t *testing.T) {
	needRoot(t, "recordings on a full disk")
	bin, ns, readers := build(t), namespace(t), startStock(t)
	for i := range *fulls {
		dir := t.TempDir()
		out := filepath.Join(dir, "full.parquet")
		var run full
		onDisk(t, filepath.Join(dir, "disk"), func(disk string) error {
			var err error
			run, err = fillDisk(bin, ns, disk, out)
			return err
		})
		got, err := inspect(run.sides, out)
		must(t, err)
		for _, w := range got.wrong {
			t.Error(w)
		}
		if run.code != 4 || !strings.Contains(run.said, "no space left on device") {
			t.Errorf("exit code %d, want 4 for events lost; the recorder said:\n%s", run.code, run.said)
		}
		if len(got.meta.Problems) > 0 {
			t.Errorf("closed in order, but: %s", strings.Join(got.meta.Problems, "; "))
		}
		checkAccount(t, got, run.sides)
		sum := tally{stock: map[string]int{}}
		sum.readers(t, readers, out, got)
		if readers != nil && (sum.stock["pyarrow"] != 1 || sum.stock["duckdb"] != 1) {
			t.Errorf("opened by %v", sum.stock)
		}
		fmt.Printf("\n| full disk %d of %d | |\n|---|---|\n| events generated | %d |\n| recorded | %d |\n| lost and counted | %d |\n| bytes of disk, of file | %d, %d |\n",
			i+1, *fulls, got.rows+got.lost, got.rows, got.lost, diskBytes, got.meta.Size)
		if t.Failed() {
			keep(t, out)
		}
	}
}

// full is one recording on a full disk.
type full struct {
	sides []*rig.Side
	code  int
	said  string
}

// onDisk runs f with a small file system at dir, which only its thread sees.
func onDisk(t *testing.T, dir string, f func(dir string) error) {
	t.Helper()
	must(t, os.Mkdir(dir, 0o700))
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the mount ends with the thread
		done <- func() error {
			if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
				return fmt.Errorf("unshare mounts: %w", err)
			}
			if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
				return fmt.Errorf("make mounts private: %w", err)
			}
			if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", diskBytes)); err != nil {
				return fmt.Errorf("mount a small disk: %w", err)
			}
			return f(dir)
		}()
	}()
	must(t, <-done)
}

// fillDisk records until the disk is full, makes room, fills it again, ends, and copies
// the file out.
func fillDisk(bin string, ns *rig.Namespace, disk, out string) (full, error) {
	var run full
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, ballastBytes), 0o600); err != nil {
		return run, err
	}
	path := filepath.Join(disk, "cap.parquet")
	rec, err := ns.Record(bin, path)
	if err != nil {
		return run, err
	}
	load, err := ns.StartLoad(rig.Rates{Datagrams: 15000, Rounds: 3000, Connects: 100})
	if err != nil {
		return run, err
	}
	err = waitFull(path)
	before := sizeOf(path)
	if err == nil {
		err = os.Remove(ballast)
	}
	if err == nil {
		err = rig.Until("the recorder writes after it was given room", func() bool { return sizeOf(path) > before })
	}
	var stopErr error
	run.sides, stopErr = load.Stop()
	_, run.code, _ = rec.End(syscall.SIGINT)
	run.said = rec.Said()
	if err == nil {
		err = stopErr
	}
	if err != nil {
		return run, fmt.Errorf("%w; the recorder said:\n%s", err, run.said)
	}
	return run, copyFile(out, path)
}

// waitFull returns when the file has not grown for a while.
func waitFull(path string) error {
	last, since := int64(-1), time.Now()
	return rig.Until("the disk is full", func() bool {
		if size := sizeOf(path); size != last {
			last, since = size, time.Now()
		}
		return last > 0 && time.Since(since) > quiet
	})
}

// quiet is how long a recorder under load writes nothing only if it cannot: it commits each
// second, or a few times that on a machine that is too busy.
const quiet = 6 * time.Second

func sizeOf(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, in)
	return err
}

// checkAccount holds the account in the file against its rows and the load's log.
func checkAccount(t *testing.T, got *truth, sides []*rig.Side) {
	t.Helper()
	recorded, generated, lost, nested := map[string]int64{}, map[string]int64{}, int64(0), int64(0)
	for _, c := range got.meta.Losses {
		if c.Generated != c.Recorded+c.Lost() {
			t.Errorf("%s on CPU %d: generated %d, recorded %d, lost %d", c.Event, c.CPU, c.Generated, c.Recorded, c.Lost())
		}
		recorded[c.Event] += c.Recorded
		generated[c.Event] += c.Generated
		lost += c.Lost()
		if c.Event == "sock_io" {
			nested += c.Nested // of any namespace: the kernel does not tell
		}
		for cause, n := range map[string]int64{"ring": c.Ring, "scratch": c.Scratch, "writer": c.Writer, "nested": c.Nested} {
			if rows := got.losses[[3]string{c.Event, fmt.Sprint(c.CPU), cause}]; rows != n {
				t.Errorf("%s on CPU %d: rows tell of %d lost by %s, the account of %d", c.Event, c.CPU, rows, cause, n)
			}
		}
	}
	if lost == 0 || lost != got.lost {
		t.Errorf("the account has %d lost, the rows %d; want more than 0", lost, got.lost)
	}
	for event, n := range recorded {
		if got.sums[event] != n {
			t.Errorf("%s: %d rows, the account has %d", event, got.sums[event], n)
		}
	}
	calls := int64(0)
	for _, s := range sides {
		if s.Event == "sock_io" {
			calls += int64(len(s.Calls))
		}
	}
	if more := generated["sock_io"] - calls; more < 0 || more > nested {
		t.Errorf("sock_io: %d generated, the load made %d calls", generated["sock_io"], calls)
	}
}
