package killtest

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"netrec/internal/bench/rig"
)

// TestKillRotating kills recorders about the time they go from one file to the next.
// Whatever lies in the directory then is a capture, together they are one recording, no
// row is wrong, there twice or missing between others, and stock readers open all of them.
func TestKillRotating(t *testing.T) {
	needRoot(t, "rotating recordings killed under load")
	bin, ns, readers := build(t), namespace(t), startStock(t)
	random := rand.New(rand.NewPCG(*seed, 2))
	turned := 0
	for range (*kills + 1) / 2 {
		dir := t.TempDir()
		rec, err := ns.Record(bin, filepath.Join(dir, "cap.parquet"), "-G", "1")
		must(t, err)
		load, err := ns.StartLoad(rates)
		must(t, err)
		// Within a second of a turn the account of the old file and the facts of the new are written.
		after := time.Second + time.Duration(random.Int64N(int64(2*time.Second)))
		time.Sleep(after)
		if turned == 0 { // a busy machine takes longer for the first turn
			must(t, rig.Until("a second file begins", func() bool { return len(files(t, dir)) > 1 }))
		}
		_, _, err = rec.End(syscall.SIGKILL)
		must(t, err)
		sides, err := load.Stop()
		must(t, err)
		paths := files(t, dir)
		if len(paths) > 1 {
			turned++
		}
		if out, err := exec.Command(bin, "analyze", dir, "tcplife").CombinedOutput(); err != nil {
			t.Errorf("killed after %s: netrec analyze: %v\n%s", after, err, out)
		}
		got, err := inspect(sides, paths...)
		if err != nil {
			t.Errorf("killed after %s: %v", after, err)
			continue
		}
		for _, w := range got.wrong {
			t.Errorf("killed after %s, %d files: %s", after, len(paths), w)
		}
		if got.matched == 0 {
			t.Errorf("killed after %s: no row has a call in the log", after)
		}
		for _, path := range paths {
			opened(t, readers, path)
		}
		leftBehind(t, dir, len(paths))
	}
	if turned == 0 {
		t.Error("no recorder had begun a second file: nothing was tested")
	}
}

// files are those of a rotating recording so far.
func files(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "cap-*.parquet"))
	must(t, err)
	return paths
}

// opened holds stock readers to a file as it lies.
func opened(t *testing.T, readers *stock, path string) {
	t.Helper()
	if readers == nil {
		return
	}
	views, err := readers.open(path)
	must(t, err)
	for name, v := range views {
		if v.Error != "" {
			t.Errorf("%s: %s: %s", name, filepath.Base(path), v.Error)
		}
	}
}

// leftBehind checks that nothing is there but captures: the keeper has removed the file
// that had no name yet.
func leftBehind(t *testing.T, dir string, captures int) {
	t.Helper()
	var entries []os.DirEntry
	err := rig.Until("the keeper, which outlives the recorder by a moment, removes its file", func() bool {
		var err error
		entries, err = os.ReadDir(dir)
		must(t, err)
		return len(entries) == captures
	})
	if err != nil {
		t.Errorf("%d captures, but %v: %v", captures, entries, err)
	}
}
