package traffic

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"

	"golang.org/x/sys/unix"
)

// worker makes calls from one thread and writes them down.
type worker struct {
	log  *Log
	link *link
	rand *rand.Rand
	want map[string]int
	kind string
	at   Side
	mu   *sync.Mutex // guards log.Sockets between the worker and the name server
	tid  int

	machine bool // its settings may be changed
}

// socket is an open socket: its place in the log and its descriptor.
type socket struct {
	*Socket
	w  *worker
	fd int
}

// unexpected is how a scenario gives up: the network or the kernel did what the
// scenario cannot explain. [Run] turns it into an error.
type unexpected struct{ error }

func (w *worker) fail(format string, args ...any) {
	panic(unexpected{fmt.Errorf(w.kind+": "+format, args...)})
}

// in moves the thread to a side, so that a call happens in the namespace of its
// socket.
func (w *worker) in(side Side) {
	if w.at == side {
		return
	}
	if err := w.link.enter(side); err != nil {
		w.fail("%w", err)
	}
	w.at = side
}

// size is an odd length of at most limit bytes.
func (w *worker) size(limit int) int { return w.rand.IntN(limit)/2*2 + 1 }

// open makes a socket.
func (w *worker) open(role string, side Side, family, typ int) *socket {
	w.in(side)
	enter := now()
	fd, errno := sysSocket(family, typ)
	exit := now()
	if errno != 0 {
		w.fail("making a socket of family %d: %w", family, errno)
	}
	return w.adopt(&Socket{
		Role: role, Side: side, FD: fd, From: -1, Family: familyName(family), Type: typeName(typ),
		Calls: []Call{{Name: "socket", FD: fd, Return: fd, Enter: enter, Exit: exit}},
	})
}

// adopt puts a socket into the log.
func (w *worker) adopt(s *Socket) *socket {
	var st unix.Stat_t
	if err := unix.Fstat(s.FD, &st); err != nil {
		w.fail("looking at a socket: %w", err)
	}
	s.Inode, s.Kind, s.TID = st.Ino, w.kind, w.tid
	w.mu.Lock()
	s.Index = len(w.log.Sockets)
	w.log.Sockets = append(w.log.Sockets, s)
	w.mu.Unlock()
	return &socket{Socket: s, w: w, fd: s.FD}
}

// call makes one call and writes it down; c says what is asked.
func (s *socket) call(c Call, f func() (int, unix.Errno)) (int, unix.Errno) {
	s.w.in(s.Side)
	c.FD, c.UID = s.fd, unix.Getuid()
	c.Enter = now()
	n, errno := f()
	c.Exit = now()
	c.Return = n
	if errno != 0 {
		c.Return, c.Errno = -1, unix.ErrnoName(errno)
	}
	s.Calls = append(s.Calls, c)
	return c.Return, errno
}

// last is the newest call of a socket.
func (s *socket) last() *Call { return &s.Calls[len(s.Calls)-1] }

// must is call for what has to succeed.
func (s *socket) must(c Call, f func() (int, unix.Errno)) int {
	n, errno := s.call(c, f)
	if errno != 0 {
		s.w.fail("%s on socket %d (%s): %w", c.Name, s.Index, s.Role, errno)
	}
	return n
}

// expect checks that a call ended as the scenario needs it.
func (s *socket) expect(errno unix.Errno, want ...unix.Errno) {
	for _, e := range want {
		if errno == e {
			return
		}
	}
	s.w.fail("%s on socket %d (%s): got %v, want %v", s.last().Name, s.Index, s.Role, errno, want)
}

// names writes down the addresses that the socket has now.
func (s *socket) names() {
	if a, err := unix.Getsockname(s.fd); err == nil {
		s.Local = addrString(a)
	}
	if a, err := unix.Getpeername(s.fd); err == nil {
		s.Remote = addrString(a)
	}
}

// listen makes a listening socket on a port of a side.
func (w *worker) listen(side Side, family int, addr netip.AddrPort) *socket {
	l := w.open("listener", side, family, unix.SOCK_STREAM)
	l.bind(addr)
	l.must(Call{Name: "listen", Asked: 64}, func() (int, unix.Errno) { return sysListen(l.fd, 64) })
	l.names()
	return l
}

func (s *socket) bind(addr netip.AddrPort) {
	if err := unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		s.w.fail("setting SO_REUSEADDR: %w", err)
	}
	s.expect(s.tryBind(addr), 0)
}

// accept takes a connection, with the peer's address asked for or not, by
// accept or accept4.
func (l *socket) accept(withPeer, four bool) *socket {
	name := "accept"
	if four {
		name = "accept4"
	}
	var peer string
	fd := l.must(Call{Name: name}, func() (int, unix.Errno) {
		fd, addr, errno := sysAccept(l.fd, withPeer, four)
		peer = addr
		return fd, errno
	})
	l.last().Peer = peer
	s := l.w.adopt(&Socket{Role: "server", Side: l.Side, FD: fd, From: l.Index, Family: l.Family, Type: l.Type})
	s.names()
	return s
}

// close closes the socket's descriptor.
func (s *socket) close() {
	s.must(Call{Name: "close"}, func() (int, unix.Errno) { return sysClose(s.fd) })
}

// setNonblock changes no data and is not written down.
func (s *socket) setNonblock(on bool) {
	if err := unix.SetNonblock(s.fd, on); err != nil {
		s.w.fail("changing blocking: %w", err)
	}
}

// setInt sets a socket option.
func (s *socket) setInt(level, opt, value int) {
	if err := unix.SetsockoptInt(s.fd, level, opt, value); err != nil {
		s.w.fail("setting option %d: %w", opt, err)
	}
}
