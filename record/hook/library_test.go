package hook

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netrec/record/proc"
)

func TestIsLibc(t *testing.T) {
	for path, want := range map[string]bool{
		"/lib/x86_64-linux-gnu/libc.so.6": true, "/nix/store/x-glibc/lib/libc.so.6": true, "/lib/libc-2.31.so": true,
		"/lib/ld-musl-x86_64.so.1": true, "/lib/libc.musl-x86_64.so.1": true, "/usr/lib/musl/lib/libc.so": true,
		"/lib/x86_64-linux-gnu/libc.so.6 (deleted)": true,
		"/lib/libcap.so.2":                          false, "/lib/libc++.so.1": false, "/lib/libc.so.6.bak": false, "/libc.so.6/x": false, "": false,
	} {
		if isLibc(path) != want {
			t.Errorf("%q is taken for a C library: %v", path, !want)
		}
	}
}

func TestMappedLibcs(t *testing.T) {
	const maps = `555555554000-555555556000 r-xp 00000000 fe:01 77 /usr/bin/libc.so.6/true
7ffff7c00000-7ffff7c26000 r--p 00000000 fe:01 1310 /usr/lib/libc.so.6
007fff7c260000-7ffff7d7b000 r-xp 00026000 fe:01 1310 /usr/lib/libc.so.6
7ffff7fbb000-7ffff7fbd000 r-xp 00000000 00:00 0 [vdso]
7ffff7e00000-7ffff7e26000 r-xp 00000000 00:2e 9 /a dir/libc.so.6 (deleted)
nonsense /libc.so.6
`
	got := mappedLibcs(strings.NewReader(maps))
	want := []fileMapped{
		{span: "7fff7c260000-7ffff7d7b000", path: "/usr/lib/libc.so.6", id: fileID(0xfe, 1, 1310)},
		{span: "7ffff7e00000-7ffff7e26000", path: "/a dir/libc.so.6 (deleted)", id: fileID(0, 0x2e, 9)},
	}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestParseMmap2(t *testing.T) {
	message := func(path string) []byte {
		b, err := binary.Append(nil, binary.NativeEndian, mmap2{Pid: 7, Tid: 8, Addr: 0x1000, Len: 0x500, Major: 0xfe, Minor: 1, Ino: 1310})
		if err != nil {
			t.Fatal(err)
		}
		return append(append(b, path...), 0, 0, 0)
	}
	got, ok := parseMmap2(message("/lib/libc.so.6"))
	if want := (fileMapped{pid: 7, span: "1000-1500", path: "/lib/libc.so.6", id: fileID(0xfe, 1, 1310)}); !ok || got != want {
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
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	elf := func(class, machine byte) []byte {
		b := make([]byte, 64)
		copy(b, "\x7fELF")
		b[4], b[18] = class, machine
		return b
	}
	good := write("libc.so.6", elf(2, 62))
	link := filepath.Join(dir, "other")
	if err := os.Link(good, link); err != nil {
		t.Fatal(err)
	}
	l := newLibraries()
	for _, k := range []struct {
		path        string
		taken, fail bool
	}{
		{good, true, false}, {link, false, false},
		{write("32bit", elf(1, 3)), false, true}, {write("arm", elf(2, 183)), false, true}, {write("text", []byte("GROUP ( libc.so.6 )")), false, true},
		{write("again", elf(2, 62)), true, false},
	} {
		f, st, err := proc.Link(k.path)
		if err != nil {
			t.Fatal(err)
		}
		lib, err := l.take(f, st, k.path)
		if (lib != nil) != k.taken || (err != nil) != k.fail {
			t.Errorf("%s: %v, %v", k.path, lib, err)
		}
		if lib != nil {
			lib.file.Close()
		}
	}
}
