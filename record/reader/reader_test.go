package reader_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netrec/internal/bench/rig"
	"netrec/record/reader"
)

func TestMain(m *testing.M) {
	reader.Init()
	rig.InitHold()
	os.Exit(m.Run())
}

var functions = []string{"getaddrinfo", "gethostbyname", "no_such_function"}

func start(t *testing.T) *reader.Reader {
	t.Helper()
	r, err := reader.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// hold has a process map a file of the name of a C library.
func hold(t *testing.T, path string) *rig.Held {
	t.Helper()
	h, err := rig.Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// mappingOf finds what a process has mapped.
func mappingOf(t *testing.T, r *reader.Reader, h *rig.Held) reader.Mapping {
	t.Helper()
	c, err := r.Candidates()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Mapped, func(m reader.Mapping) bool { return m.Pid == uint32(h.Pid()) })
	if i < 0 {
		t.Fatalf("process %d is not among %d candidates", h.Pid(), len(c.Mapped))
	}
	return c.Mapped[i]
}

// The functions of this host's C library are where another reader of ELF files finds them.
func TestInstalled(t *testing.T) {
	r := start(t)
	c, err := r.Candidates()
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, path := range c.Installed {
		lib, err := r.Installed(path, false, functions)
		if err != nil || lib.Left != "" {
			continue // of another machine
		}
		defer lib.File.Close()
		looked++
		want := symbols(t, path)
		if len(lib.Offsets) == 0 {
			t.Errorf("%s: none of %q", path, functions)
		}
		for name, off := range lib.Offsets {
			if want[name] != off {
				t.Errorf("%s: %s at %#x, want %#x", path, name, off, want[name])
			}
		}
	}
	if looked == 0 {
		t.Skip("no C library on this host: left out: where its functions are")
	}
}

// symbols is where functions begin in a file, by debug/elf.
func symbols(t *testing.T, path string) map[string]uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]uint64{}
	for _, s := range list {
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && s.Value >= p.Vaddr && s.Value < p.Vaddr+p.Filesz {
				at[s.Name] = s.Value - p.Vaddr + p.Off
			}
		}
	}
	return at
}

// A library that asks for gigabytes gets none, and the next question its answer.
func TestBomb(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libc.so.6")
	if err := os.WriteFile(path, rig.Bomb(100_000), 0o755); err != nil {
		t.Fatal(err)
	}
	r := start(t)
	m := mappingOf(t, r, hold(t, path))
	began := time.Now()
	lib, err := r.Mapped(m, functions)
	if err != nil || lib.Left != "" || len(lib.Offsets) != 0 {
		t.Fatalf("%+v, %v", lib, err)
	}
	lib.File.Close()
	if took := time.Since(began); took >= reader.Patience {
		t.Errorf("it took %v", took)
	}
}

// A file system that does not answer costs its own library, after a while, and no other.
func TestHungFileSystem(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: left out: files on FUSE")
	}
	served, err := rig.Serve(t.TempDir(), "libc.so.6", rig.Bomb(7))
	if err != nil {
		t.Skipf("left out: files on FUSE: %v", err)
	}
	defer served.Close()
	r := start(t)
	m := mappingOf(t, r, hold(t, served.Path))
	lib, err := r.Mapped(m, functions)
	if err != nil || !strings.Contains(lib.Left, "FUSE") {
		t.Fatalf("a file that a process serves: %+v, %v", lib, err)
	}
	served.Hang()
	began := time.Now()
	lib, err = r.Mapped(m, functions)
	if err != nil || !strings.Contains(lib.Left, "does not answer") {
		t.Fatalf("%+v, %v", lib, err)
	}
	if took := time.Since(began); took < reader.Patience || took > 4*reader.Patience {
		t.Errorf("given up after %v", took)
	}
	if c, err := r.Candidates(); err != nil || len(c.Mapped) == 0 {
		t.Errorf("another question: %+v, %v", c, err)
	}
}
