package hook

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/cilium/ebpf/link"

	"netrec/record/fence"
	"netrec/record/proc"
	"netrec/record/reader"
	"netrec/schema"
)

// Bounds on what containers may bring: each has a C library of its own.
const (
	MaxLibraries   = 256 // that get probes, in all
	maxLibraryName = 512
	maxLeftNamed   = 3 // of those left out, in a warning
)

// Library is a file that gets probes because programs look names up through it. The recorder
// never reads it: it is somebody else's, and so is what it says (package reader).
type Library struct {
	Name    string // as its users name it
	file    *os.File
	offsets map[string]uint64 // of functions in the file
}

// place is where a function is in the library.
func (l *Library) place(function string) (*link.Executable, uint64, error) {
	off, ok := l.offsets[function]
	if !ok {
		return nil, 0, fmt.Errorf("symbol %s: %w", function, link.ErrNoSymbol)
	}
	ex, err := link.OpenExecutable(proc.Path(l.file))
	return ex, off, err
}

// libraries finds C libraries, each file once.
type libraries struct {
	reader    *reader.Reader
	functions []string              // that probes stand in
	seen      map[reader.Inode]bool // files, as stat has them
	known     map[reader.Inode]bool // files, as mappings have them: not always the same on file systems in layers
	left      []string              // files without probes, and why
}

func newLibraries(r *reader.Reader, functions []string) *libraries {
	return &libraries{reader: r, functions: functions, seen: map[reader.Inode]bool{}, known: map[reader.Inode]bool{}}
}

// libraryFunctions are those that the events have hooks in.
func libraryFunctions(events []*schema.Event) (names []string) {
	for _, e := range events {
		for _, rung := range e.Ladder {
			for _, h := range rung {
				if h.Kind == schema.Uprobe || h.Kind == schema.Uretprobe {
					names = append(names, symbol(h))
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// take makes a file that was read a library. It closes what it does not take: files that were
// taken before, and, with the reason, what can have no probes.
func (l *libraries) take(got *reader.Library, path string) (*Library, error) {
	if got.Left != "" {
		return nil, fmt.Errorf("%s: %s", path, got.Left)
	}
	if l.seen[got.ID] {
		got.File.Close()
		return nil, nil
	}
	if len(l.seen) >= MaxLibraries {
		got.File.Close()
		return nil, fmt.Errorf("%s: more than %d C libraries", path, MaxLibraries)
	}
	l.seen[got.ID], l.known[got.ID] = true, true
	return &Library{Name: name(path), file: got.File, offsets: got.Offsets}, nil
}

// atStart finds the libraries named by the user, the host's own and those mapped by
// running processes. Of the first, one that cannot be used is an error.
func (l *libraries) atStart(given []string) (found []*Library, err error) {
	for _, path := range given {
		got, err := l.reader.Installed(path, true, l.functions)
		if err != nil {
			return found, fmt.Errorf("look for name lookups in %s: %w", path, err)
		}
		lib, err := l.take(got, path)
		if err != nil {
			return found, err
		}
		found = appendLibrary(found, lib)
	}
	c, err := l.reader.Candidates()
	if err != nil {
		l.left = append(l.left, fmt.Sprintf("those of this host: %v", err))
		return found, nil
	}
	if c.Unread > 0 {
		l.left = append(l.left, fmt.Sprintf("those of %d processes that did not show theirs in time", c.Unread))
	}
	for _, r := range l.readAll(&c) {
		found = appendLibrary(found, l.judge(r))
	}
	return found, nil
}

// result is what became of one candidate.
type result struct {
	path   string
	mapped reader.Mapping // of a process, if it has one
	got    *reader.Library
	err    error
}

// readAll reads all candidates at once: one whose file system hangs keeps none waiting.
func (l *libraries) readAll(c *reader.Candidates) []result {
	all := make([]result, 0, len(c.Installed)+len(c.Mapped))
	for _, path := range c.Installed {
		all = append(all, result{path: path})
	}
	for _, m := range c.Mapped {
		all = append(all, result{path: m.Path, mapped: m})
	}
	var reading sync.WaitGroup
	for i := range all {
		r := &all[i]
		reading.Go(func() {
			if r.mapped.Pid == 0 {
				r.got, r.err = l.reader.Installed(r.path, false, l.functions)
			} else {
				r.got, r.err = l.reader.Mapped(r.mapped, l.functions)
			}
		})
	}
	reading.Wait()
	return all
}

// judge takes what was read, or notes what is left out. Files of other machines and
// processes that have ended are nothing to note.
func (l *libraries) judge(r result) *Library {
	if gone := (*fence.GoneError)(nil); errors.As(r.err, &gone) {
		l.left = append(l.left, fmt.Sprintf("%q: %v", r.path, r.err))
	}
	if r.err != nil {
		return nil
	}
	lib, err := l.take(r.got, r.path)
	if err != nil {
		who := "on this host"
		if r.mapped.Pid != 0 {
			who = fmt.Sprintf("of process %d", r.mapped.Pid)
		}
		l.left = append(l.left, fmt.Sprintf("%q %s: %s", name(r.path), who, r.got.Left))
	}
	if r.mapped.Pid != 0 {
		l.known[r.mapped.ID] = true
	}
	return lib
}

// warning says in one line which libraries have no probes, "" if all have.
func (l *libraries) warning() string {
	if len(l.left) == 0 {
		return ""
	}
	text := "no probes in C libraries: " + strings.Join(l.left[:min(len(l.left), maxLeftNamed)], "; ")
	if more := len(l.left) - maxLeftNamed; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

func appendLibrary(libs []*Library, lib *Library) []*Library {
	if lib == nil {
		return libs
	}
	return append(libs, lib)
}

// name is a path as rows carry it.
func name(path string) string { return path[:min(len(path), maxLibraryName)] }

// closeLibraries lets the files go; their probes stay.
func closeLibraries(libs []*Library) {
	for _, lib := range libs {
		lib.file.Close()
	}
}
