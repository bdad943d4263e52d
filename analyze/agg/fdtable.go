package agg

import (
	"cmp"
	"maps"
	"slices"

	"netrec/analyze/scan"
	"netrec/schema"
)

// entry is what is known of a descriptor.
func (d *Descriptors) entry(pid, fd int64) fdEntry {
	if t := d.tables[pid]; t != nil {
		return t.fds[fd]
	}
	return fdEntry{}
}

func (d *Descriptors) table(pid int64) *fdTable {
	t := d.tables[pid]
	if t == nil {
		if len(d.tables) >= maxTables {
			d.forget()
		}
		t = &fdTable{fds: map[int64]fdEntry{}, users: 1}
		d.tables[pid] = t
	}
	return t
}

// forget gives every table up: the file is hostile, or lost the ends of its processes.
// What descriptors lead to is learnt anew from the rows that name them.
func (d *Descriptors) forget() {
	clear(d.tables)
	d.fds = 0
	for _, f := range d.byAddr {
		f.Refs = 0
	}
}

// point makes a descriptor lead to a file. One that led elsewhere is closed by it.
func (d *Descriptors) point(pid, fd int64, f *File, ts int64) {
	t := d.table(pid)
	e, known := t.fds[fd]
	if e.open() {
		if e.file == f {
			return
		}
		d.unref(e.file, ts)
	}
	if !known {
		if d.fds++; d.fds > maxFDs {
			d.forget()
			t = d.table(pid)
			d.fds = 1
		}
	}
	t.fds[fd] = fdEntry{file: f, serial: f.Serial, since: ts, gen: e.gen + 1}
	f.Refs++
	f.idle = 0
	f.Passed = f.Passed || f.Pid != pid
}

// unpoint closes a descriptor.
func (d *Descriptors) unpoint(t *fdTable, fd, ts int64) {
	e := t.fds[fd]
	if !e.open() {
		return
	}
	f := e.file
	e.file = nil
	t.fds[fd] = e
	d.unref(f, ts)
}

func (d *Descriptors) unref(f *File, ts int64) {
	if f.Refs--; f.Refs > 0 {
		return
	}
	if f.idle = ts; f.flight == 0 {
		d.end(f, LastClosed, ts)
	}
}

// between lists the open descriptors of a range, in order.
func (t *fdTable) between(first, last int64) []int64 {
	var fds []int64
	for fd, e := range t.fds {
		if fd >= first && fd <= last && e.open() {
			fds = append(fds, fd)
		}
	}
	slices.Sort(fds)
	return fds
}

// fork gives a new process the descriptors of its parent: the same table, or a copy.
func (d *Descriptors) fork(pid, child int64, shared bool, ts int64) {
	d.exit(child, ts) // an earlier process of that number, whose end was not seen
	t := d.table(pid)
	if shared {
		t.users++
		d.tables[child] = t
		return
	}
	c := d.table(child)
	c.parent = pid
	// The parent's table may have been given up to make room for the child's.
	if t = d.tables[pid]; t == nil {
		return
	}
	for _, fd := range t.between(0, 1<<62) {
		d.point(child, fd, t.fds[fd].file, ts)
	}
}

// unshare gives a process that shares its table with others one of its own, as exec does.
func (d *Descriptors) unshare(pid int64) *fdTable {
	t := d.tables[pid]
	if t.users == 1 {
		return t
	}
	t.users--
	own := &fdTable{fds: map[int64]fdEntry{}, users: 1, parent: t.parent}
	d.tables[pid] = own
	for fd, e := range t.fds {
		if e.open() {
			d.fds++
			e.file.Refs++
			own.fds[fd] = e
		}
	}
	return own
}

// exit ends a process: its descriptors are closed unless another shares them.
func (d *Descriptors) exit(pid, ts int64) {
	t := d.tables[pid]
	if t == nil {
		return
	}
	delete(d.tables, pid)
	if t.users--; t.users > 0 {
		return
	}
	for _, fd := range t.between(0, 1<<62) {
		d.unpoint(t, fd, ts)
	}
	d.fds -= len(t.fds)
}

// file begins the file of a socket.
func (d *Descriptors) file(r *scan.Row, pid, fd int64, addr uint64) *File {
	if len(d.byAddr) >= maxFDs {
		d.evict(r.TS)
	}
	f := d.take()
	f.Addr, f.Pid, f.FD, f.Comm, f.First, f.sure = addr, pid, fd, d.names.Get(r.Str(d.col.Comm)), r.TS, r.TS
	if addr == r.Uint(d.col.Sock) {
		f.Cookie = r.Int(d.col.Cookie)
	}
	d.byAddr[addr] = f
	return f
}

func (d *Descriptors) take() *File {
	var f *File
	if n := len(d.free); n > 0 {
		f, d.free = d.free[n-1], d.free[:n-1]
	} else {
		f = &File{slot: d.slots}
		d.slots++
	}
	*f = File{Serial: d.serial, slot: f.slot}
	d.serial++
	return f
}

// evict gives up the older half of the files.
func (d *Descriptors) evict(ts int64) {
	all := slices.SortedFunc(maps.Values(d.byAddr), func(a, b *File) int { return cmp.Compare(a.Serial, b.Serial) })
	for _, f := range all[:len(all)/2] {
		d.end(f, Replaced, ts)
	}
}

func (d *Descriptors) end(f *File, how FileEnd, ts int64) {
	if f.idle != 0 {
		how, ts = LastClosed, f.idle // the message under way was never read
	}
	if d.gaps.Between(f.sure, ts) || d.copies.Between(f.First, ts) {
		how, ts = Unseen, f.sure
	}
	f.over = true
	for _, g := range d.onEnd {
		g(f, how, ts)
	}
	if d.byAddr[f.Addr] == f {
		delete(d.byAddr, f.Addr)
	}
	if d.older[f.Cookie] == f {
		delete(d.older, f.Cookie)
	}
	f.Serial = -1
	d.free = append(d.free, f)
}

// doubt ends the file of a socket where rows were lost since it is known to have been open,
// and the socket is not known to have lived all the time: it may be another's by now. A socket
// may outlive its file, so that only rows by descriptor tell that it is still open.
func (d *Descriptors) doubt(addr uint64, s *Socket, kind schema.Descriptor) {
	f := d.byAddr[addr]
	if f == nil {
		return
	}
	lost, lives := d.gaps.Between(f.sure, d.now), s != nil && !s.Strange && s.First <= f.First
	switch {
	case lost && !lives:
		d.end(f, Unseen, f.sure)
	case !lost || kind == schema.NamesDescriptor || kind == schema.ClosesDescriptor:
		f.sure = d.now
	}
}

// confirm notes that a row says again what a descriptor leads to.
func (d *Descriptors) confirm(pid, fd int64, f *File) {
	if !d.gaps.Any() {
		return
	}
	if t := d.tables[pid]; t != nil {
		if e := t.fds[fd]; e.file == f && e.open() {
			e.seen = d.now
			t.fds[fd] = e
		}
	}
}
