package agg

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"netrec/analyze/scan"
	"netrec/schema"
)

// Bounds of Sockets.
const (
	maxClosed = 1 << 16 // closed sockets kept for rows that still come
	maxLive   = 1 << 22 // living sockets; the quietest are given up beyond that
	maxGens   = 1 << 22 // addresses whose generations are counted
)

// Sockets follows every socket of a recording and tells apart the lives that
// shared an address. A life ends where its address is reused: at a change of state
// that only a new socket makes or that cannot follow the one before, at another cookie,
// at other ends or at another namespace. Where rows were lost it goes on only as far as
// rows prove it.
type Sockets struct {
	asked  scan.Columns
	col    cols
	byAddr map[uint64]*Socket
	gens   map[uint64]int32
	older  map[int64]*schema.Socket
	// Ports that had a listener at the start: an older socket that has one came from it.
	listening map[portOf]bool
	// Range that the kernel chooses ports from, 0 if it is not known.
	chosenLo, chosenHi int64

	// Who listens, for connections that threads of the kernel handle (MPTCP).
	servers map[portOf]server
	// Names of processes, for their threads of io_uring, which have others.
	comms map[int64]string

	names  Intern
	onEnd  []func(*Socket)
	free   []*Socket
	slots  int
	serial int64
	closed []closedAt // oldest first
	last   *Socket    // of the row before: rows come in runs
	device []bool     // by event id: the namespace is that of the packet's device

	lives, openers     Gaps
	collected, trusted Stretches
	stranger           *Socket // of rows that cannot be told
}

type portOf struct {
	netns uint32
	port  int
}

type server struct {
	pid          int64
	comm, cgroup string
}

type closedAt struct {
	s      *Socket
	serial int64
}

// cols are the columns that identity comes from.
type cols struct {
	Sock, Netns, Pid, Cookie, Lport, Rport, DestPort, DurNs, BindPort              scan.Int
	Comm, Cgroup, Ctx, Laddr, Raddr, Protocol, OldState, NewState, DestAddr, State scan.Str
}

// IdentityEvents are the events that say who a socket is; none of them is frequent.
var IdentityEvents = schema.EventsThat(func(e *schema.Event) bool { return e.Identity == schema.Identifies })

// IdentityHelp are events that make lives of sockets surer where they were recorded: those
// of sockets without states, and their owners before anything is sent.
var IdentityHelp = schema.EventsThat(func(e *schema.Event) bool { return e.Identity == schema.Helps })

// NewSockets follows sockets; those of the list were alive at the start.
func NewSockets(alive []schema.Socket) *Sockets {
	s := &Sockets{byAddr: map[uint64]*Socket{}, gens: map[uint64]int32{}, older: map[int64]*schema.Socket{}, listening: map[portOf]bool{},
		servers: map[portOf]server{}, comms: map[int64]string{}}
	s.asked.MustBind(&s.col)
	s.device = deviceRows()
	for i := range alive {
		if alive[i].Cookie != 0 {
			s.older[alive[i].Cookie] = &alive[i]
		}
		for _, o := range alive[i].Owners {
			s.named(int64(o.Pid), o.Comm)
		}
		if at := (portOf{alive[i].Netns, alive[i].Lport}); alive[i].State == "LISTEN" {
			s.listening[at] = true
			if os := alive[i].Owners; len(os) > 0 {
				s.servers[at] = server{int64(os[0].Pid), os[0].Comm, os[0].Cgroup}
			}
		}
	}
	return s
}

// SocketsOf follows the sockets of a recording.
func SocketsOf(m *scan.Meta) *Sockets {
	s := NewSockets(m.Sockets)
	if v := strings.Fields(m.Sysctls["net.ipv4.ip_local_port_range"]); len(v) == 2 {
		s.chosenLo, _ = strconv.ParseInt(v[0], 10, 64)
		s.chosenHi, _ = strconv.ParseInt(v[1], 10, 64)
	}
	return s
}

// Columns are the columns that Feed reads.
func (t *Sockets) Columns() []scan.Col { return t.asked.All() }

// OnEnd calls f when a socket's life is over for good, or the recording is. The
// socket is reused after the call.
func (t *Sockets) OnEnd(f func(*Socket)) { t.onEnd = append(t.onEnd, f) }

// At is the life that the socket at an address is in, nil if none is known.
func (t *Sockets) At(addr uint64) *Socket { return t.byAddr[addr] }

// Feed takes the next row and returns the socket it belongs to, nil if it has none.
func (t *Sockets) Feed(r *scan.Row) *Socket {
	addr := r.Uint(t.col.Sock)
	if addr == 0 {
		return nil
	}
	s := t.last
	if s == nil || s.Addr != addr {
		s = t.byAddr[addr]
	}
	kind := r.Event.Says
	if kind == schema.SaysClose && s != nil && s.Born && r.TS-r.Int(t.col.DurNs) < s.First {
		return nil // the call freed the life before this one; the address was reused before it returned
	}
	switch {
	case s == nil:
		s = t.begin(addr, r, s, kind)
	case t.another(s, r, kind):
		if kind == schema.SaysClose && r.TS-r.Int(t.col.DurNs) < s.First {
			return nil // as above, and the beginning of the next life was lost
		}
		s = t.begin(addr, r, s, kind)
	case t.lives.Any() && t.doubts(s, r, kind):
		if !t.identifies(r, kind) {
			return t.strange(addr, r)
		}
		s = t.begin(addr, r, s, kind)
	}
	t.last = s
	if s.Last = r.TS; t.lives.Any() && shows(s, kind) {
		s.shown = r.TS
	}
	if s.elsewhere && !t.device[r.Event.ID] {
		if n := r.Int(t.col.Netns); n != 0 {
			s.Netns, s.elsewhere = n, false
		}
	}
	switch kind {
	case schema.SaysAccept:
		s.accepted = true
	case schema.SaysConnect, schema.SaysPeer:
		s.dialled = true
	case schema.SaysClose:
		s.taken = true
	}
	if s.Cookie == 0 && !t.copied(r, kind) {
		t.cookie(s, r)
	}
	if kind == schema.SaysState || kind == schema.SaysGone || kind != schema.SaysNothing && !s.full {
		t.learn(s, r, kind)
	}
	return s
}

// another reports whether the row cannot belong to the life s.
func (t *Sockets) another(s *Socket, r *scan.Row, kind schema.Says) bool {
	switch {
	case kind == schema.SaysMade:
		return true
	case s.gone:
		return kind != schema.SaysClose || r.TS-r.Int(t.col.DurNs) > s.Closed
	case kind == schema.SaysState && startsLife(r.Str(t.col.OldState), r.Str(t.col.NewState)):
		return !s.made || s.Began != 0 || t.copied(r, kind) || // socket(2) makes no child
			t.lives.Between(s.sure, r.TS)
	case kind == schema.SaysState && s.Protocol == "tcp" && t.skips(s, r):
		return true
	case t.lives.Any() && t.elsewhereEnds(s, r, kind):
		return true
	}
	if c := r.Int(t.col.Cookie); c != 0 && s.Cookie != 0 && c != s.Cookie {
		return true
	}
	if s.elsewhere || t.device[r.Event.ID] {
		return false
	}
	n := r.Int(t.col.Netns)
	return n != 0 && s.Netns != 0 && n != s.Netns
}

// startsLife reports changes that only a new socket, or a closed one used again, makes.
func startsLife(from, to string) bool {
	return from == "CLOSE" && to != "CLOSE" || copiedChild(from, to)
}

func (t *Sockets) begin(addr uint64, r *scan.Row, before *Socket, kind schema.Says) *Socket {
	if before != nil {
		t.end(before)
	}
	if len(t.byAddr) >= maxLive {
		t.evict()
	}
	if len(t.gens) >= maxGens {
		clear(t.gens)
	}
	gen := t.gens[addr] + 1
	t.gens[addr] = gen
	s := t.take()
	slot := s.slot
	*s = Socket{Addr: addr, Netns: r.Int(t.col.Netns), Gen: int(gen), Serial: t.serial, First: r.TS, slot: slot, sure: r.TS, shown: r.TS}
	if t.trusted != nil {
		s.until = t.trusted.until(addr, r.TS)
	}
	s.made, s.elsewhere = kind == schema.SaysMade, t.device[r.Event.ID]
	s.Born = s.made || kind == schema.SaysState && startsLife(r.Str(t.col.OldState), r.Str(t.col.NewState))
	t.serial++
	t.byAddr[addr] = s
	return s
}

func (t *Sockets) take() *Socket {
	if n := len(t.free); n > 0 {
		s := t.free[n-1]
		t.free = t.free[:n-1]
		return s
	}
	s := &Socket{slot: t.slots}
	t.slots++
	return s
}

func (t *Sockets) end(s *Socket) {
	if s.Closed == 0 && t.lives.Any() {
		s.Last = s.shown // its end may be among lost rows
	}
	s.over = true
	for _, f := range t.onEnd {
		f(s)
	}
	delete(t.byAddr, s.Addr)
	if t.last == s {
		t.last = nil
	}
	if t.collected != nil && s.sure > s.First {
		t.collected[s.Addr] = append(t.collected[s.Addr], gap{s.First, s.sure})
	}
	s.Serial = noSerial
	t.free = append(t.free, s)
}

// close notes the change to CLOSE. Rows may still follow (the reader of a reset
// connection), so the socket stays until its address is reused or many others closed.
func (t *Sockets) close(s *Socket, ts int64) {
	if s.Closed != 0 {
		return
	}
	s.Closed = ts
	t.closed = append(t.closed, closedAt{s, s.Serial})
	if len(t.closed) < 2*maxClosed {
		return
	}
	for _, c := range t.closed[:maxClosed] {
		if c.s.Serial == c.serial {
			t.end(c.s)
		}
	}
	t.closed = slices.Delete(t.closed, 0, maxClosed)
}

// evict gives up the half of the living sockets that was quiet for longest.
func (t *Sockets) evict() {
	all := make([]*Socket, 0, len(t.byAddr))
	for _, s := range t.byAddr {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Socket) int { return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.Serial, b.Serial)) })
	for _, s := range all[:len(all)/2] {
		t.end(s)
	}
}

// Close ends every life, in the order of their appearance.
func (t *Sockets) Close() {
	rest := make([]*Socket, 0, len(t.byAddr))
	for _, s := range t.byAddr {
		rest = append(rest, s)
	}
	slices.SortFunc(rest, func(a, b *Socket) int { return cmp.Compare(a.Serial, b.Serial) })
	for _, s := range rest {
		s.Open = s.Closed == 0 && !t.lives.Between(s.sure, math.MaxInt64)
		t.end(s)
	}
}
