package agg

import (
	"cmp"
	"slices"

	"netrec/analyze/scan"
	"netrec/schema"
)

// Bounds of Descriptors.
const (
	maxTables = 1 << 16 // processes whose descriptors are followed at once
	maxFDs    = 1 << 22 // descriptors of all processes, closed ones included
)

// DescriptorEvents are the events that open, copy and close descriptors; Feed takes those
// of IdentityHelp, too.
var DescriptorEvents = schema.EventsThat(func(e *schema.Event) bool {
	return e.Descriptor >= schema.OpensDescriptor && e.Descriptor != schema.EndsFile
})

// FileEvents are the events that begin and end files and descriptors: where one of them was
// lost, a descriptor may lead elsewhere, unseen.
var FileEvents = schema.EventsThat(func(e *schema.Event) bool { return e.Descriptor >= schema.OpensDescriptor })

// CopyEvents are those of FileEvents that give a file one more descriptor.
var CopyEvents = schema.EventsThat(func(e *schema.Event) bool {
	return e.Descriptor == schema.CopiesDescriptor || e.Descriptor == schema.PassesDescriptor
})

// unknownFD is the descriptor of a file of which io_uring did not show it. The file ends with
// the first descriptor of it that is seen to be closed.
const unknownFD = -1

// Descriptors follows which descriptor of which process leads to which socket, through
// socket, accept, dup, fork, exec, passing and close. A descriptor is (process, number,
// generation): numbers are reused at once.
//
// A call is recorded when it returns, but changes the table before: close(2) gives the
// number back at its start, and another thread may have it again before close returns.
// So a row says nothing about a descriptor that began after the row's call did.
type Descriptors struct {
	asked  scan.Columns
	col    fdCols
	tables map[int64]*fdTable // by process
	byAddr map[uint64]*File
	older  map[int64]*File // by cookie: open at the start, address not seen yet
	onEnd  []func(f *File, how FileEnd, ts int64)
	names  Intern
	free   []*File
	slots  int
	serial int64
	fds    int // entries of all tables

	Corrected int64 // descriptors found to lead elsewhere than the rows before said

	gaps, copies Gaps
	now          int64 // ts_ns of the row at hand
}

type fdCols struct {
	Sock, Cookie, Listener, PeerSock, Pid, Ret, DurNs, Fd, Fd2, FdNew, FdLast, ChildPid scan.Int
	FdsShared, PassedSock, FdPassed                                                     scan.Int
	Comm, Func, Ctx, Dir, OldState, NewState                                            scan.Str
}

// NewDescriptors follows descriptors; the sockets of the list were open at the start.
func NewDescriptors(alive []schema.Socket) *Descriptors {
	d := &Descriptors{tables: map[int64]*fdTable{}, byAddr: map[uint64]*File{}, older: map[int64]*File{}}
	d.asked.MustBind(&d.col)
	for i := range alive {
		o := &alive[i]
		if o.Cookie == 0 || len(o.Owners) == 0 || d.older[o.Cookie] != nil {
			continue
		}
		f := d.take()
		f.Cookie, f.Older, f.Pid, f.FD, f.Comm = o.Cookie, true, int64(o.Owners[0].Pid), int64(o.Owners[0].FD), o.Owners[0].Comm
		d.older[o.Cookie] = f
		for _, w := range o.Owners {
			d.point(int64(w.Pid), int64(w.FD), f, 0)
		}
	}
	return d
}

// Columns are the columns that Feed reads.
func (d *Descriptors) Columns() []scan.Col { return d.asked.All() }

// Gaps are the times in which rows of FileEvents and of CopyEvents were lost. They are to be
// filled before the first row.
func (d *Descriptors) Gaps() (files, copies *Gaps) { return &d.gaps, &d.copies }

// OnEnd calls f when a file is over, or the recording is. The file is reused after
// the call.
func (d *Descriptors) OnEnd(f func(f *File, how FileEnd, ts int64)) { d.onEnd = append(d.onEnd, f) }

// At is the file that a descriptor leads to now, with the descriptor's generation; nil
// if it is not known to be a socket's.
func (d *Descriptors) At(pid, fd int64) (*File, int) {
	t := d.tables[pid]
	if t == nil {
		return nil, 0
	}
	e := t.fds[fd]
	if !e.open() || d.gaps.Between(max(e.since, e.seen), d.now) {
		return nil, int(e.gen)
	}
	return e.file, int(e.gen)
}

// Parent is the process that a process was forked from, 0 if that was not seen.
func (d *Descriptors) Parent(pid int64) int64 {
	if t := d.tables[pid]; t != nil {
		return t.parent
	}
	return 0
}

// Of is the file of the socket at an address, nil if no descriptor of it is known.
func (d *Descriptors) Of(addr uint64) *File { return d.byAddr[addr] }

// Feed takes the next row and returns the file of its socket, nil if there is none. s is
// the life that the socket of the row is in.
func (d *Descriptors) Feed(r *scan.Row, s *Socket) *File {
	c := &d.col
	addr, pid := r.Uint(c.Sock), r.Int(c.Pid)
	if d.now = r.TS; d.gaps.Any() && addr != 0 {
		d.doubt(addr, s, r.Event.Descriptor)
	}
	switch r.Event.Descriptor {
	case schema.NamesDescriptor:
		if fd := r.Int(c.Fd); addr != 0 && r.Has(c.Fd) && fd >= 0 && r.Str(c.Ctx) != "softirq" {
			d.lead(r, pid, fd, addr)
		}
	case schema.OpensDescriptor:
		d.made(r, pid, addr)
	case schema.AcceptsDescriptor:
		if l := r.Uint(c.Listener); l != 0 && r.Has(c.Fd) {
			d.lead(r, pid, r.Int(c.Fd), l)
		}
		if fd := r.Int(c.Ret); addr != 0 && fd >= 0 {
			if !r.Has(c.Ret) {
				fd = unknownFD
			}
			d.begin(r, pid, fd, addr)
		}
	case schema.CopiesDescriptor:
		d.dup(r, pid, addr)
	case schema.ClosesDescriptor:
		d.closed(r, pid, addr)
	case schema.PassesDescriptor:
		d.pass(r, pid)
	case schema.EndsFile:
		if f := d.known(r, addr); f != nil {
			d.end(f, LastClosed, r.TS)
		}
	}
	f := d.byAddr[addr]
	// A child still has its listener's cookie when the kernel first tells of it.
	if f == nil && addr != 0 && len(d.older) > 0 && !copiedChild(r.Str(c.OldState), r.Str(c.NewState)) {
		f = d.known(r, addr)
	}
	if f != nil && s != nil && s.Cookie != 0 {
		if f.Cookie == 0 {
			f.Cookie = s.Cookie
		} else if f.Cookie != s.Cookie {
			d.end(f, Replaced, r.TS) // another socket lives at the address
			return nil
		}
	}
	return f
}

func (d *Descriptors) made(r *scan.Row, pid int64, addr uint64) {
	c := &d.col
	if addr != 0 {
		d.begin(r, pid, r.Int(c.Fd), addr)
	}
	if peer := r.Uint(c.PeerSock); peer != 0 {
		d.begin(r, pid, r.Int(c.Fd2), peer)
	}
}

// begin enters a descriptor for a socket that a call has just made.
func (d *Descriptors) begin(r *scan.Row, pid, fd int64, addr uint64) {
	if old := d.byAddr[addr]; old != nil {
		d.end(old, Replaced, r.TS)
	}
	f := d.file(r, pid, fd, addr)
	f.Born = true
	if fd != unknownFD {
		d.point(pid, fd, f, r.TS)
	}
}

// known is the file of the socket at an address, also if it is only known by the
// cookie of a socket that was open at the start.
func (d *Descriptors) known(r *scan.Row, addr uint64) *File {
	f := d.byAddr[addr]
	if f == nil && addr == r.Uint(d.col.Sock) {
		if f = d.older[r.Int(d.col.Cookie)]; f != nil {
			d.place(f, addr, r.TS)
		}
	}
	return f
}

// place notes the address of a file that was open at the start.
func (d *Descriptors) place(f *File, addr uint64, ts int64) {
	f.Addr, f.First = addr, ts
	d.byAddr[addr] = f
	delete(d.older, f.Cookie)
}

// lead takes what a row says: that a descriptor leads to a socket. Where that was not
// known, the descriptor is older than the recording, or came on a way without an event.
func (d *Descriptors) lead(r *scan.Row, pid, fd int64, addr uint64) {
	f, e := d.known(r, addr), d.entry(pid, fd)
	start := r.TS - r.Int(d.col.DurNs)
	if e.open() {
		if e.file == f || start < e.since {
			d.confirm(pid, fd, f)
			return // as known, or the call began before the descriptor led elsewhere
		}
		if f == nil && e.file.Addr == 0 && (addr != r.Uint(d.col.Sock) || r.Int(d.col.Cookie) == 0) {
			d.place(e.file, addr, r.TS)
			return
		}
		d.Corrected++
	}
	if f == nil {
		f = d.file(r, pid, fd, addr)
	}
	d.point(pid, fd, f, start)
}

func (d *Descriptors) dup(r *scan.Row, pid int64, addr uint64) {
	c := &d.col
	if child := r.Int(c.ChildPid); child != 0 {
		d.fork(pid, child, r.Int(c.FdsShared) == 1, r.TS)
		return
	}
	if addr == 0 {
		return
	}
	if r.Has(c.Fd) {
		d.lead(r, pid, r.Int(c.Fd), addr)
	}
	f := d.known(r, addr)
	if f == nil { // received in a message of a process that is not seen
		f = d.file(r, pid, r.Int(c.FdNew), addr)
	}
	d.point(pid, r.Int(c.FdNew), f, r.TS)
}

// pass takes a descriptor that a message carries to another process. Until it is taken out
// the message keeps the file open; one that is never read is told from what follows.
func (d *Descriptors) pass(r *scan.Row, pid int64) {
	c := &d.col
	addr, fd := r.Uint(c.PassedSock), r.Int(c.FdPassed)
	if addr == 0 {
		return
	}
	if r.Str(c.Dir) == "send" {
		if d.lead(r, pid, fd, addr); d.byAddr[addr] != nil {
			d.byAddr[addr].flight++
		}
		return
	}
	f := d.known(r, addr)
	if f == nil {
		f = d.file(r, pid, fd, addr)
	}
	f.flight = max(f.flight-1, 0)
	d.point(pid, fd, f, r.TS)
}

// closed takes descriptors out of the table: one, a range, or all of a process.
func (d *Descriptors) closed(r *scan.Row, pid int64, addr uint64) {
	c := &d.col
	fd, last, fn := r.Int(c.Fd), r.Int(c.FdLast), r.Str(c.Func)
	t := d.tables[pid]
	if f := d.byAddr[addr]; f != nil && f.FD == unknownFD && f.Refs == 0 {
		d.end(f, LastClosed, r.TS)
		return
	}
	switch {
	case fn == "exit":
		d.exit(pid, r.TS)
	case t == nil || r.Int(c.Ret) < 0 && addr == 0:
	case addr == 0:
		for _, n := range t.between(fd, last) {
			d.unpoint(t, n, r.TS)
		}
	default:
		if d.known(r, addr); fn == "exec" {
			t = d.unshare(pid)
		}
		e := t.fds[fd]
		// Otherwise the number was given away again before close returned.
		if e.open() && e.file.Addr == addr && r.TS-r.Int(c.DurNs) >= e.since {
			d.unpoint(t, fd, r.TS)
		}
	}
}

// Close ends every file, in the order of their appearance.
func (d *Descriptors) Close(ts int64) {
	rest := make([]*File, 0, len(d.byAddr)+len(d.older))
	for _, f := range d.byAddr {
		rest = append(rest, f)
	}
	for _, f := range d.older {
		rest = append(rest, f)
	}
	slices.SortFunc(rest, func(a, b *File) int { return cmp.Compare(a.Serial, b.Serial) })
	for _, f := range rest {
		d.end(f, StillOpen, ts)
	}
}
