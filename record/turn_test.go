package record

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netrec/record/hook"
	"netrec/record/host"
	"netrec/record/place"
)

// TestMain lets the test program be its own keeper of files.
func TestMain(m *testing.M) {
	place.Init()
	os.Exit(m.Run())
}

// What the recorder may not do is in every file of a recording: it gives up what it may
// before the second one.
func TestWarningsOfLaterFiles(t *testing.T) {
	s := &session{preparation: preparation{lacks: []string{"without CAP_X: no y"}}, facts: facts{report: &host.Report{Warnings: []string{"of the host"}}}, loop: loop{hooks: &hook.Set{}}}
	if got, want := s.warnings(0), []string{"without CAP_X: no y", "of the host"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A file that is full is left once, however long the writer takes to get there.
func TestOneTurnForAFullFile(t *testing.T) {
	s := &session{loop: loop{writer: &writer{}, drain: &drain{pile: newPile(1, &pool{})}}}
	s.turning.ready = make(chan *preparedFile, 1)
	s.writer.full.Store(true)
	s.turning.turns++ // the pile that turns is on its way
	if err := s.rotate(time.Now()); err != nil || s.turning.under {
		t.Errorf("another file is being made: %v, %v", s.turning.under, err)
	}
}

// A recording of plain root goes on in a second file, though the recorder is nobody by then
// and the directory is root's.
func TestNextFileOfPlainRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: left out: files made after privileges are given up")
	}
	t.Setenv("SUDO_UID", "")
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := &outputs{asked: &Options{Output: filepath.Join(dir, "cap.parquet")}}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	defer s.file.Close()
	made := make(chan error)
	var path string
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its identity
		const nobody = 65534
		unix.Setfsuid(nobody)
		w, p, err := s.create()
		if err == nil {
			path, err = p, s.publish()
			w.Close()
		}
		made <- err
	}()
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	if err := s.files.Close(); err != nil {
		t.Error(err)
	}
	if want := filepath.Join(dir, "cap.2.parquet"); path != want {
		t.Errorf("the second file is %s, want %s", path, want)
	}
	if st, err := os.Stat(path); err != nil || st.Size() == 0 {
		t.Errorf("the second file: %v, %v", st, err)
	}
}
