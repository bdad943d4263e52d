package reader

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"netrec/record/fence"
	"netrec/record/proc"
	"netrec/schema/objfile"
)

// maxLibraryBytes is more than any C library has.
const maxLibraryBytes = 64 << 20

// Inode is the file that probes stand in.
type Inode struct{ Dev, Ino uint64 }

// Library is a file that functions were looked for in.
type Library struct {
	ID      Inode
	Offsets map[string]uint64 // in the file, by function; those that it has
	Left    string            // why it can have no probes; "" if it can

	File *os.File `json:"-"` // open for reading, by whom it does not matter any more
}

// libraryQuestion names a file, by a mapping or by a path on the host.
type libraryQuestion struct {
	Mapping
	Host      bool // the path is one of the host
	Trusted   bool // it was named by whoever records
	Functions []string
}

// Mapped opens a library in the memory of a process and looks for functions in it. An error
// is a file that is gone, or no library of this machine.
func (r *Reader) Mapped(m Mapping, functions []string) (*Library, error) {
	return r.library(libraryQuestion{Mapping: m, Functions: functions})
}

// Installed is Mapped for a file of the host; trusted if the user named it.
func (r *Reader) Installed(path string, trusted bool, functions []string) (*Library, error) {
	return r.library(libraryQuestion{Mapping: Mapping{Path: path}, Host: true, Trusted: trusted, Functions: functions})
}

func (r *Reader) library(q libraryQuestion) (*Library, error) {
	lib := &Library{}
	files, err := r.process.Ask(Patience, askLibrary, q, lib)
	switch {
	case errors.Is(err, fence.ErrStuck):
		return &Library{Left: "its file system does not answer"}, nil
	case err != nil:
		return nil, err
	case lib.Left != "":
		return lib, nil
	case len(files) != 1:
		return nil, errors.New("the reader sent no file")
	}
	lib.File = files[0]
	return lib, nil
}

// parsers is how many files are parsed at a time: each may take some megabytes.
var parsers = make(chan struct{}, 8)

// library answers in the process.
func library(q libraryQuestion) (*Library, *os.File, error) {
	f, st, err := open(q)
	if err != nil {
		return nil, nil, err
	}
	lib := &Library{ID: Inode{st.Dev, st.Ino}}
	if lib.Offsets, err = offsets(f, st, q); err != nil {
		f.Close()
		if errors.Is(err, errForeign) {
			return nil, nil, err
		}
		lib.Left = err.Error()
		return lib, nil, nil
	}
	return lib, f, nil
}

// open opens a file behind a mapping by the kernel's own link to it where that is allowed
// (CAP_CHECKPOINT_RESTORE), else by its path in the root of the process.
func open(q libraryQuestion) (*os.File, *unix.Stat_t, error) {
	if q.Host {
		return proc.Link(q.Path)
	}
	dir := "/proc/" + strconv.FormatUint(uint64(q.Pid), 10)
	f, st, err := proc.Link(dir + "/map_files/" + q.Span)
	if err != nil {
		f, st, err = proc.Below(dir+"/root", q.Path, 0)
	}
	return f, st, err
}

func offsets(f *os.File, st *unix.Stat_t, q libraryQuestion) (map[string]uint64, error) {
	if !q.Trusted {
		if err := answers(f); err != nil {
			return nil, err
		}
	}
	parsers <- struct{}{}
	defer func() { <-parsers }()
	if err := usable64(f, st.Size); err != nil {
		return nil, err
	}
	o, err := objfile.Open(f, st.Size)
	if err != nil {
		return nil, err
	}
	return o.Offsets(q.Functions...)
}

// answers refuses files that a process serves. While the kernel puts a probe into one it reads
// from it, and lets nothing on the host fork: the process would decide for how long.
func answers(f *os.File) error {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return err
	}
	if st.Type == unix.FUSE_SUPER_MAGIC {
		return errors.New("on a FUSE file system, where a probe could stall the host")
	}
	return nil
}

var errForeign = errors.New("not 64-bit code of this machine")

// usable64 refuses what the probes cannot read: 32-bit code has its arguments elsewhere.
func usable64(f *os.File, size int64) error {
	if size > maxLibraryBytes {
		return fmt.Errorf("%d bytes, more than a C library has", size)
	}
	var head [20]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:4]) != elf.ELFMAG {
		return fmt.Errorf("not an ELF file: %w", errForeign)
	}
	if elf.Class(head[elf.EI_CLASS]) != elf.ELFCLASS64 || elf.Machine(head[18]) != elf.EM_X86_64 {
		return errForeign
	}
	return nil
}
