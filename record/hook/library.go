package hook

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"netrec/record/proc"
)

// Bounds on what containers may bring: each has a C library of its own, and its file may
// say anything.
const (
	MaxLibraries    = 256 // that get probes, in all
	maxLibraryBytes = 64 << 20
	maxLibraryName  = 512
)

// libcPatterns are where distributions keep their C library.
var libcPatterns = []string{"/lib/*-linux-gnu*/libc.so.6", "/lib64/libc.so.6", "/usr/lib64/libc.so.6", "/usr/lib/libc.so.6",
	"/lib/libc.so.6", "/lib/libc.musl-*.so.1", "/lib/ld-musl-*.so.1", "/lib/*-linux-musl*/libc.so"}

// isLibc tells a C library by its name: glibc's, also as it was called before 2.34, and
// musl's, which is the loader too.
func isLibc(path string) bool {
	base := filepath.Base(strings.TrimSuffix(path, deleted))
	return base == "libc.so.6" || base == "libc.so" || strings.HasPrefix(base, "libc-2.") ||
		strings.HasPrefix(base, "ld-musl-") || strings.HasPrefix(base, "libc.musl-")
}

// deleted is what the kernel adds to the path of a file that has been removed since it was
// mapped; upgrades of the C library leave such behind in every process that goes on.
const deleted = " (deleted)"

// Library is a file that gets probes because programs look names up through it.
type Library struct {
	Name string // as its users name it
	file *os.File
	exe  *link.Executable // opened once: reading its symbols takes longer than a probe in it
}

// executable is the file as probes are attached to it.
func (l *Library) executable() (ex *link.Executable, err error) {
	if l.exe == nil {
		l.exe, err = link.OpenExecutable(proc.Path(l.file))
	}
	return l.exe, err
}

// inode is what probes are attached to.
type inode struct{ Dev, Ino uint64 }

// libraries finds C libraries, each file once.
type libraries struct {
	seen  map[inode]bool // files, as stat has them
	known map[inode]bool // files, as mappings have them: not always the same on file systems in layers
}

func newLibraries() *libraries {
	return &libraries{seen: map[inode]bool{}, known: map[inode]bool{}}
}

// take makes an opened file a library. It closes what it does not take: files that were
// taken before, and, with the reason, what can have no probes.
func (l *libraries) take(f *os.File, st *unix.Stat_t, path string) (*Library, error) {
	id := inode{st.Dev, st.Ino}
	if l.seen[id] {
		f.Close()
		return nil, nil
	}
	if len(l.seen) >= MaxLibraries {
		f.Close()
		return nil, fmt.Errorf("%s: more than %d C libraries", path, MaxLibraries)
	}
	l.seen[id] = true
	if err := usable64(f, st.Size); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l.known[id] = true
	return &Library{Name: name(path), file: f}, nil
}

// usable64 refuses what the probes cannot read: 32-bit code has its arguments elsewhere.
func usable64(f *os.File, size int64) error {
	if size > maxLibraryBytes {
		return fmt.Errorf("%d bytes, more than a C library has", size)
	}
	var head [20]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:4]) != elf.ELFMAG {
		return errors.New("not an ELF file")
	}
	if elf.Class(head[elf.EI_CLASS]) != elf.ELFCLASS64 || elf.Machine(head[18]) != elf.EM_X86_64 {
		return errors.New("not 64-bit code of this machine")
	}
	return nil
}

// atStart finds the libraries named by the user, the host's own and those mapped by
// running processes. Of the first, one that cannot be used is an error.
func (l *libraries) atStart(given []string) (found []*Library, err error) {
	for _, path := range given {
		f, st, err := proc.Link(path)
		if err != nil {
			return found, err
		}
		lib, err := l.take(f, st, path)
		if err != nil {
			return found, err
		}
		found = appendLibrary(found, lib)
	}
	for _, p := range libcPatterns {
		paths, _ := filepath.Glob(p)
		for _, path := range paths {
			if f, st, err := proc.Link(path); err == nil {
				lib, _ := l.take(f, st, path) // of another architecture
				found = appendLibrary(found, lib)
			}
		}
	}
	return append(found, l.running()...), nil
}

func appendLibrary(libs []*Library, lib *Library) []*Library {
	if lib == nil {
		return libs
	}
	return append(libs, lib)
}

// name is a path as rows carry it.
func name(path string) string { return path[:min(len(path), maxLibraryName)] }

// running finds what the processes of this moment have mapped.
func (l *libraries) running() (found []*Library) {
	for _, m := range runningLibcs() {
		lib, err := l.mapped(m)
		if err == nil {
			l.known[m.id] = true
		}
		found = appendLibrary(found, lib)
	}
	return found
}

// fileMapped is the code of a C library in the memory of a process.
type fileMapped struct {
	pid  uint32
	span string // its addresses, as the link in map_files is called
	path string
	id   inode
}

// mapped opens the file behind a mapping: by the kernel's own link to it where that is
// allowed (CAP_CHECKPOINT_RESTORE), else by its path in the root of the process.
func (l *libraries) mapped(m fileMapped) (*Library, error) {
	dir := "/proc/" + strconv.FormatUint(uint64(m.pid), 10)
	f, st, err := proc.Link(dir + "/map_files/" + m.span)
	if err != nil {
		if f, st, err = proc.Below(dir+"/root", m.path, 0); err != nil {
			return nil, err
		}
	}
	return l.take(f, st, m.path)
}

// runningLibcs reads the maps of every process, each file once.
func runningLibcs() (found []fileMapped) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	seen := map[inode]bool{}
	for _, dir := range dirs {
		pid, err := strconv.ParseUint(filepath.Base(dir), 10, 32)
		f, openErr := os.Open(dir + "/maps")
		if err != nil || openErr != nil {
			continue // the process ended
		}
		for _, m := range mappedLibcs(f) {
			if !seen[m.id] {
				seen[m.id] = true
				m.pid = uint32(pid)
				found = append(found, m)
			}
		}
		f.Close()
	}
	return found
}

// mappedLibcs reads lines "from-to perms offset major:minor inode path".
func mappedLibcs(maps io.Reader) (found []fileMapped) {
	for sc := bufio.NewScanner(maps); sc.Scan(); {
		head, path, ok := strings.Cut(sc.Text(), "/")
		fields := strings.Fields(head)
		if !ok || len(fields) != 5 || !strings.Contains(fields[1], "x") || !isLibc(path) {
			continue
		}
		var from, to, major, minor, ino uint64
		_, err := fmt.Sscanf(fields[0]+" "+fields[3]+" "+fields[4], "%x-%x %x:%x %d", &from, &to, &major, &minor, &ino)
		if err != nil {
			continue
		}
		// map_files has no leading zeros, maps has.
		found = append(found, fileMapped{span: fmt.Sprintf("%x-%x", from, to), path: "/" + path, id: fileID(major, minor, ino)})
	}
	return found
}

// fileID numbers a file as stat does.
func fileID(major, minor, ino uint64) inode {
	return inode{unix.Mkdev(uint32(major), uint32(minor)), ino}
}

// closeLibraries lets the files go; their probes stay.
func closeLibraries(libs []*Library) {
	for _, lib := range libs {
		lib.file.Close()
	}
}
