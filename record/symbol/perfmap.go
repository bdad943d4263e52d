package symbol

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"netrec/record/proc"
	"netrec/schema/objfile"
)

// maxPerfBytes bounds a perf map: a JIT appends to it for as long as it runs.
const maxPerfBytes = 48 << 20

// perfMap says where the list of functions is that a JIT compiler has written for
// perf; the list itself is among the objects.
type perfMap struct {
	id   fileID
	next time.Time // not read again before
}

// perfSymbol looks an address up in the process's perf map, which is read again, at
// most once a second and only if it has changed, while the address is not in it.
func (u *User) perfSymbol(p *process, at uint64) (*objfile.Table, *objfile.Entry) {
	o, ok := u.objects.get(p.perf.id)
	if ok {
		if e := o.Table.Find(at); e != nil {
			return &o.Table, e
		}
	} else {
		p.perf.id = fileID{}
	}
	begin := u.now()
	if begin.Before(p.perf.next) {
		return nil, nil
	}
	pid, old := p.pid, p.perf.id
	fresh, err := guarded(u.guard, func() (listed, error) { return loadPerfMap(pid, old) })
	// Maps that take long to read are read less often: at most 5 % of the time.
	end := u.now()
	p.perf.next = end.Add(max(missEvery, 20*end.Sub(begin)))
	if err != nil || fresh.object == nil {
		return nil, nil
	}
	p.perf.id = fresh.id
	t := &fresh.object.Table
	u.objects.put(fresh.id, fresh.object, t.Bytes()+objectOverhead)
	return t, t.Find(at)
}

// listed is a perf map that was read.
type listed struct {
	id     fileID
	object *objfile.Object
}

// loadPerfMap reads /tmp/perf-PID.map in the root of the process; the name may have
// the pid as the process itself sees it, or as the host does. The object is nil if
// the file is still the old one.
func loadPerfMap(pid int32, old fileID) (listed, error) {
	uid, inner, err := owner(pid)
	if err != nil {
		return listed{}, err
	}
	root := fmt.Sprintf("/proc/%d/root", pid)
	for _, n := range slices.Compact([]int{inner, int(pid)}) {
		path := fmt.Sprintf("tmp/perf-%d.map", n)
		f, st, err := proc.Below(root, path, unix.RESOLVE_NO_SYMLINKS)
		if err != nil {
			continue
		}
		defer f.Close()
		switch {
		case st.Uid != uid && st.Uid != 0: // anybody may write to /tmp
			return listed{}, fmt.Errorf("%s: belongs to user %d, not to the process", path, st.Uid)
		case idOf(st) == old:
			return listed{}, nil
		}
		return listed{idOf(st), &objfile.Object{Table: *parsePerfMap(f)}}, nil
	}
	return listed{}, fmt.Errorf("process %d: no perf map", pid)
}

// parsePerfMap reads lines of "start size name", numbers in hex. Lines that are
// something else are skipped: the JIT may be writing the last one.
func parsePerfMap(r io.Reader) *objfile.Table {
	t := &objfile.Table{}
	s := bufio.NewScanner(io.LimitReader(r, maxPerfBytes))
	s.Buffer(nil, 1<<16)
	for s.Scan() {
		start, rest, _ := bytes.Cut(s.Bytes(), []byte{' '})
		size, name, _ := bytes.Cut(rest, []byte{' '})
		a, err := strconv.ParseUint(string(bytes.TrimPrefix(start, []byte("0x"))), 16, 64)
		n, err2 := strconv.ParseUint(string(bytes.TrimPrefix(size, []byte("0x"))), 16, 32)
		if err != nil || err2 != nil || n == 0 {
			continue
		}
		if !t.Add(a, n, 0, name) {
			break
		}
	}
	// Code is compiled again at the same address: what was written last is there now.
	t.SortByAge()
	return t
}
