package hook

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"netrec/record/reader"
)

func TestParseMmap2(t *testing.T) {
	message := func(path string) []byte {
		b, err := binary.Append(nil, binary.NativeEndian, mmap2{Pid: 7, Tid: 8, Addr: 0x1000, Len: 0x500, Major: 0xfe, Minor: 1, Ino: 1310})
		if err != nil {
			t.Fatal(err)
		}
		return append(append(b, path...), 0, 0, 0)
	}
	got, ok := parseMmap2(message("/lib/libc.so.6"))
	if want := (reader.Mapping{Pid: 7, Span: "1000-1500", Path: "/lib/libc.so.6", ID: reader.NumberOf(0xfe, 1, 1310)}); !ok || got != want {
		t.Errorf("got %+v, %v, want %+v", got, ok, want)
	}
	for _, bad := range [][]byte{nil, message("/bin/true"), message("/lib/libc.so.6")[:mmap2Size]} {
		if m, ok := parseMmap2(bad); ok {
			t.Errorf("%q is taken for %+v", bad, m)
		}
	}
}

// A file is taken once, whatever it is called, and only if probes can stand in it.
func TestTake(t *testing.T) {
	l := newLibraries(nil, nil)
	for _, k := range []struct {
		ino         uint64
		left        string
		taken, fail bool
	}{{7, "", true, false}, {7, "", false, false}, {9, "it does not answer", false, true}, {11, "", true, false}} {
		f, err := os.Open("/dev/null")
		if err != nil {
			t.Fatal(err)
		}
		lib, err := l.take(&reader.Library{ID: reader.Inode{Ino: k.ino}, Left: k.left, File: f}, "/lib/libc.so.6")
		if (lib != nil) != k.taken || (err != nil) != k.fail {
			t.Errorf("%+v: %v, %v", k, lib, err)
		}
		f.Close()
	}
}

// However many libraries are left out, it is said in one line, and no name steers a terminal.
func TestLeftOut(t *testing.T) {
	l := newLibraries(nil, nil)
	if w := l.warning(); w != "" {
		t.Errorf("nothing is left out, and said: %s", w)
	}
	for range maxLeftNamed + 4 {
		l.judge(result{path: "/\x1b[2J/libc.so.6", mapped: reader.Mapping{Pid: 7}, got: &reader.Library{Left: "it does not answer"}})
	}
	w := l.warning()
	if strings.ContainsAny(w, "\x1b\n") || !strings.Contains(w, "of process 7: it does not answer") || !strings.HasSuffix(w, "; and 4 more") {
		t.Errorf("said: %q", w)
	}
}
