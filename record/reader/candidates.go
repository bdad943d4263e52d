package reader

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of what processes may bring.
const (
	maxCandidates = 256
	maxPath       = 512 // of a library in a process
	readers       = 8   // of processes, at a time
)

// Mapping is the code of a C library in the memory of a process.
type Mapping struct {
	Pid  uint32
	Span string // its addresses, as the link in map_files is called
	Path string
	ID   Inode // as mappings have it: not always as stat does on file systems in layers
}

// Candidates are files that may be C libraries.
type Candidates struct {
	Installed []string  // paths of the host
	Mapped    []Mapping // each file once
	Unread    int       // processes that did not show their mappings in time
}

// Candidates looks for C libraries: the host's own, and those of all processes.
func (r *Reader) Candidates() (Candidates, error) {
	var c Candidates
	_, err := r.process.Ask(Patience, askCandidates, struct{}{}, &c)
	return c, err
}

// libcPatterns are where distributions keep their C library.
var libcPatterns = []string{"/lib/*-linux-gnu*/libc.so.6", "/lib64/libc.so.6", "/usr/lib64/libc.so.6", "/usr/lib/libc.so.6",
	"/lib/libc.so.6", "/lib/libc.musl-*.so.1", "/lib/ld-musl-*.so.1", "/lib/*-linux-musl*/libc.so"}

// deleted is what the kernel adds to the path of a file that has been removed since it was
// mapped; upgrades of the C library leave such behind in every process that goes on.
const deleted = " (deleted)"

// IsLibc tells a C library by its name: glibc's, also as it was called before 2.34, and
// musl's, which is the loader too.
func IsLibc(path string) bool {
	base := filepath.Base(strings.TrimSuffix(path, deleted))
	return base == "libc.so.6" || base == "libc.so" || strings.HasPrefix(base, "libc-2.") ||
		strings.HasPrefix(base, "ld-musl-") || strings.HasPrefix(base, "libc.musl-")
}

// candidates answers in the process, with what it knows by then.
func candidates(struct{}) (Candidates, error) {
	var c Candidates
	for _, p := range libcPatterns {
		paths, _ := filepath.Glob(p)
		c.Installed = append(c.Installed, paths...)
	}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return c, err
	}
	s := scan{seen: map[Inode]bool{}, left: len(dirs), done: make(chan struct{})}
	s.start(dirs)
	select {
	case <-s.done:
	case <-time.After(Patience * 2 / 3): // of a process that hangs, others are not to suffer
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Mapped, c.Unread = s.found[:len(s.found):len(s.found)], s.left
	return c, nil
}

// scan reads the mappings of processes.
type scan struct {
	mu    sync.Mutex
	seen  map[Inode]bool
	found []Mapping
	left  int           // processes to come
	done  chan struct{} // closed with the last
}

func (s *scan) start(dirs []string) {
	next := make(chan string, len(dirs))
	for _, dir := range dirs {
		next <- dir
	}
	close(next)
	for range min(readers, len(dirs)) {
		go func() {
			for dir := range next {
				s.add(dir, mappedBy(dir))
			}
		}()
	}
}

// mappedBy is the libraries of a process; none of one that has ended.
func mappedBy(dir string) []Mapping {
	f, err := os.Open(dir + "/maps")
	if err != nil {
		return nil
	}
	defer f.Close()
	return parseMaps(f)
}

func (s *scan) add(dir string, found []Mapping) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pid, err := strconv.ParseUint(filepath.Base(dir), 10, 32)
	for _, m := range found {
		if err == nil && !s.seen[m.ID] && len(s.found) < maxCandidates {
			s.seen[m.ID] = true
			m.Pid = uint32(pid)
			s.found = append(s.found, m)
		}
	}
	if s.left--; s.left == 0 {
		close(s.done)
	}
}

// parseMaps reads lines "from-to perms offset major:minor inode path".
func parseMaps(maps io.Reader) (found []Mapping) {
	for sc := bufio.NewScanner(maps); sc.Scan(); {
		head, path, ok := strings.Cut(sc.Text(), "/")
		fields := strings.Fields(head)
		if !ok || len(fields) != 5 || !strings.Contains(fields[1], "x") || len(path) >= maxPath || !IsLibc(path) {
			continue
		}
		var from, to, major, minor, ino uint64
		_, err := fmt.Sscanf(fields[0]+" "+fields[3]+" "+fields[4], "%x-%x %x:%x %d", &from, &to, &major, &minor, &ino)
		if err != nil {
			continue
		}
		// map_files has no leading zeros, maps has.
		found = append(found, Mapping{Span: fmt.Sprintf("%x-%x", from, to), Path: "/" + path, ID: NumberOf(major, minor, ino)})
	}
	return found
}

// NumberOf numbers a file as stat does.
func NumberOf(major, minor, ino uint64) Inode {
	return Inode{unix.Mkdev(uint32(major), uint32(minor)), ino}
}
