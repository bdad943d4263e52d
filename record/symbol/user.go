package symbol

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"netrec/record/proc"
	"netrec/schema/objfile"
)

// Bounds of what is remembered.
const (
	maxProcessBytes = 32 << 20
	maxObjectBytes  = 96 << 20 // the largest table fits
	processOverhead = 512
	mappingOverhead = 128
	objectOverhead  = 256
)

// Files are read for at most burst at once and a fifth of the time in the long run:
// a process may map any number of large files.
const (
	burst = 4 * time.Second
	share = 5
)

// User names addresses in the memory of processes. It may be used by several
// goroutines, one at a time gets through.
type User struct {
	mu        sync.Mutex
	processes *lru[int32, *process]
	objects   *lru[fileID, *objfile.Object]
	seen      objects
	guard     guard
	execs     Execs
	gen       uint64
	credit    time.Duration // left for reading files
	credited  time.Time
	now       func() time.Time
}

// NewUser returns a User that knows nothing yet, and hears of none of its processes' execs.
func NewUser() *User { return NewWatching(NoExecs{}) }

// NewWatching returns one that is told of execs. Without it a stack from right before an exec
// may be given names of the program after it.
func NewWatching(x Execs) *User {
	return &User{
		execs:     x,
		processes: newLRU[int32, *process](maxProcessBytes),
		objects:   newLRU[fileID, *objfile.Object](maxObjectBytes),
		seen:      newObjects(),
		guard:     newGuard(),
		credit:    burst,
		now:       time.Now,
	}
}

// Name is the function at addr in a process, "main.run+0x1a"; the file, its build and
// the address in it, "libfoo.so(1a2b3c4d)+0x1234", where the file has no symbol there, or
// without the build the offset, where it cannot be read; or the address, where it is in
// no file.
func (u *User) Name(pid int32, addr uint64) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	s, _ := u.frame(u.process(pid), addr, addr)
	return s
}

// Program is a number of the program that a process ran at a time, a new one whenever names
// may have changed, and from when to when that is known to hold; 0 if it is not known.
func (u *User) Program(pid int32, ts uint64) (gen, since, until uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	p := u.process(pid).at(ts)
	if p == nil {
		return 0, ts, ts
	}
	return p.gen, p.since, p.until
}

// Frames names addresses of a time, as Name does, by the functions that cover at; nil if the
// program that had them is gone, false where looking again later may give a better answer.
func (u *User) Frames(pid int32, ts uint64, at, addrs []uint64) (names []string, complete bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	p := u.process(pid).at(ts)
	if p == nil {
		return nil, true
	}
	names, complete = make([]string, len(addrs)), true
	for i := range addrs {
		text, ok := u.frame(p, at[i], addrs[i])
		names[i], complete = text, complete && ok
	}
	return names, complete
}

// runs reports whether the program is the one that its process has now.
func (u *User) runs(p *process) bool {
	now, ok := u.processes.get(p.pid)
	return ok && now == p
}

// frame names the function that covers at, with the offset of addr; false where
// looking again later may give a better answer.
func (u *User) frame(p *process, at, addr uint64) (string, bool) {
	m := find(p.maps, at)
	if m == nil {
		if now := u.now(); now.Sub(p.read) >= missEvery && u.runs(p) {
			u.reread(p, now)
			m = find(p.maps, at)
		}
	}
	switch {
	case m == nil:
		return hex(addr), false
	case m.path == "[vdso]":
		return "[vdso]+0x" + strconv.FormatUint(addr-m.start, 16), true
	case m.isFile():
		return u.fileFrame(p, m, at, addr)
	}
	if t, e := u.perfSymbol(p, at); e != nil {
		return label(t, e, addr-e.Addr), true
	}
	return hex(addr), false
}

func label(t *objfile.Table, e *objfile.Entry, off uint64) string {
	return clean(objfile.Demangle(t.Name(e))) + "+0x" + strconv.FormatUint(off, 16)
}

// fileFrame names code that was mapped from a file.
func (u *User) fileFrame(p *process, m *mapping, at, addr uint64) (string, bool) {
	off := at - m.start + m.off
	o, ok := u.object(p, m)
	if o != nil {
		name := u.seen.name(m, o.BuildID)
		if v, ok := o.Addr(off); ok {
			if e := o.Table.Find(v); e != nil {
				return label(&o.Table, e, v-e.Addr+addr-at), true
			}
			return name + "+" + hex(v+addr-at), true
		}
	}
	return m.base() + "+" + hex(off+addr-at), ok
}

// object returns the symbols of the file behind a mapping, nil if it cannot be had;
// false if not now.
func (u *User) object(p *process, m *mapping) (*objfile.Object, bool) {
	if m.known {
		if o, ok := u.objects.get(m.id); ok {
			return o, true
		}
	} else if m.sought {
		return nil, true
	}
	begin := u.now()
	u.credit = min(burst, u.credit+begin.Sub(u.credited)/share)
	u.credited = begin
	if u.credit <= 0 {
		return nil, false
	}
	defer func() { u.credit -= u.now().Sub(begin) }()

	m.sought = true
	pid, want := p.pid, *m
	f, err := guarded(u.guard, func() (mapped, error) { return openMapped(pid, &want) })
	if err != nil {
		return nil, true
	}
	m.known, m.id = true, f.id
	if o, ok := u.objects.get(f.id); ok {
		f.file.Close()
		return o, true
	}
	o, err := guarded(u.guard, func() (*objfile.Object, error) {
		defer f.file.Close()
		return objfile.Read(f.file, f.id.size)
	})
	if err != nil {
		o = &objfile.Object{} // remembered, so that a bad file is read once
	}
	u.objects.put(f.id, o, o.Table.Bytes()+objectOverhead)
	return o, true
}

// mapped is an open file that a process has mapped.
type mapped struct {
	file *os.File
	id   fileID
}

// openMapped opens the file behind a mapping: by the kernel's own link to it where
// that is allowed (CAP_CHECKPOINT_RESTORE), else by its path in the root of the
// process, if the file there is still the one that was mapped. Devices are not
// compared: overlay file systems show another than the mapping does.
func openMapped(pid int32, m *mapping) (mapped, error) {
	f, st, err := proc.Link(fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.start, m.end))
	if err != nil {
		if strings.HasSuffix(m.path, deleted) {
			return mapped{}, err
		}
		if f, st, err = proc.Below(fmt.Sprintf("/proc/%d/root", pid), m.path, 0); err != nil {
			return mapped{}, err
		}
		if st.Ino != m.inode {
			f.Close()
			return mapped{}, fmt.Errorf("%s: not the file that was mapped", m.path)
		}
	}
	return mapped{f, idOf(st)}, nil
}
