package reader

import (
	"strings"
	"testing"
)

func TestIsLibc(t *testing.T) {
	for path, want := range map[string]bool{
		"/lib/x86_64-linux-gnu/libc.so.6": true, "/nix/store/x-glibc/lib/libc.so.6": true, "/lib/libc-2.31.so": true,
		"/lib/ld-musl-x86_64.so.1": true, "/lib/libc.musl-x86_64.so.1": true, "/usr/lib/musl/lib/libc.so": true,
		"/lib/x86_64-linux-gnu/libc.so.6 (deleted)": true,
		"/lib/libcap.so.2":                          false, "/lib/libc++.so.1": false, "/lib/libc.so.6.bak": false, "/libc.so.6/x": false, "": false,
	} {
		if IsLibc(path) != want {
			t.Errorf("%q is taken for a C library: %v", path, !want)
		}
	}
}

func TestParseMaps(t *testing.T) {
	const maps = `555555554000-555555556000 r-xp 00000000 fe:01 77 /usr/bin/libc.so.6/true
7ffff7c00000-7ffff7c26000 r--p 00000000 fe:01 1310 /usr/lib/libc.so.6
007fff7c260000-7ffff7d7b000 r-xp 00026000 fe:01 1310 /usr/lib/libc.so.6
7ffff7fbb000-7ffff7fbd000 r-xp 00000000 00:00 0 [vdso]
7ffff7e00000-7ffff7e26000 r-xp 00000000 00:2e 9 /a dir/libc.so.6 (deleted)
nonsense /libc.so.6
`
	got := parseMaps(strings.NewReader(maps))
	want := []Mapping{
		{Span: "7fff7c260000-7ffff7d7b000", Path: "/usr/lib/libc.so.6", ID: NumberOf(0xfe, 1, 1310)},
		{Span: "7ffff7e00000-7ffff7e26000", Path: "/a dir/libc.so.6 (deleted)", ID: NumberOf(0, 0x2e, 9)},
	}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
