package hook

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Library is a C library that processes of this host use.
type Library struct {
	Path string // as the recorder can open it
	Name string // as its users name it
}

// maxLibraries bounds how many C libraries get probes: containers each bring one.
const maxLibraries = 64

// libcPatterns are where distributions keep their C library.
var libcPatterns = []string{"/lib/*-linux-gnu*/libc.so.6", "/lib64/libc.so.6", "/usr/lib64/libc.so.6", "/usr/lib/libc.so.6",
	"/lib/libc.so.6", "/lib/libc.musl-*.so.1", "/lib/ld-musl-*.so.1"}

// libraries finds the host's own C library and those mapped by running processes,
// each file once.
func libraries() []Library {
	type file struct{ dev, ino uint64 }
	seen := map[file]bool{}
	var libs []Library
	add := func(path, name string) {
		var st syscall.Stat_t
		if len(libs) >= maxLibraries || syscall.Stat(path, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
			return
		}
		if f := (file{uint64(st.Dev), st.Ino}); !seen[f] {
			seen[f] = true
			libs = append(libs, Library{Path: path, Name: name})
		}
	}
	for _, p := range libcPatterns {
		found, _ := filepath.Glob(p)
		for _, f := range found {
			add(f, f)
		}
	}
	maps, _ := filepath.Glob("/proc/[0-9]*/maps")
	for _, m := range maps {
		for _, name := range mappedLibcs(m) {
			add(filepath.Join(filepath.Dir(m), "root", name), name)
		}
	}
	return libs
}

func mappedLibcs(maps string) []string {
	f, err := os.Open(maps)
	if err != nil {
		return nil // the process ended
	}
	defer f.Close()
	var names []string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		_, name, ok := strings.Cut(sc.Text(), "/")
		if !ok {
			continue
		}
		name = "/" + name
		if isLibc(filepath.Base(name)) && (len(names) == 0 || names[len(names)-1] != name) {
			names = append(names, name)
		}
	}
	return names
}

func isLibc(base string) bool {
	return base == "libc.so.6" || strings.HasPrefix(base, "libc-2.") || strings.HasPrefix(base, "ld-musl-") ||
		strings.HasPrefix(base, "libc.musl-")
}

func (l Library) String() string { return fmt.Sprintf("%s (%s)", l.Name, l.Path) }
