package traffic

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// Ports of the servers, so that a recorder's port filter can be tried.
const (
	portTCP4   = 7001
	portTCP6   = 7002
	portMapped = 7003
	portReset  = 7004
	portLoss   = 7005
	portNagle  = 7006
	portClose  = 7007
	portDefer  = 7021
	portQueue  = 7023

	portOffload = 7024
	portUDP     = 7101
	portFull    = 7102
	portECN     = 7121
	portMemory  = 7122
	portTunnel  = 7123
	portClosed  = 7199 // nobody listens here, TCP and UDP
)

// connectWays are how a client connects; scenarios take them in turn.
var connectWays = []string{"blocking", "poll", "epoll", "select", "bound"}

// addr is an address of a side: IPv4, IPv6, or IPv4 mapped into IPv6.
func (w *worker) addr(side Side, form string, port int) netip.AddrPort {
	a := w.link.addrs[side]
	ip := a[0]
	switch form {
	case "6":
		ip = a[1]
	case "mapped":
		ip = netip.AddrFrom16(a[0].As16())
	}
	return netip.AddrPortFrom(ip, uint16(port))
}

func familyOf(form string) int {
	if form == "4" {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

// dial connects a new client socket on side A and gives its result.
func (w *worker) dial(way, form string, port int) (*socket, unix.Errno) {
	c := w.open("client", A, familyOf(form), unix.SOCK_STREAM)
	to := w.addr(B, form, port)
	raw := rawAddr(to, c.Family)
	if way == "bound" {
		c.bind(w.addr(A, form, 0))
	}
	waits := map[string]string{"poll": "poll", "epoll": "epoll_wait", "select": "select"}[way]
	c.setNonblock(waits != "")
	uid := unix.Getuid()
	if c.Index%3 == 1 {
		uid = otherUser
	}
	var errno unix.Errno
	w.as(uid, func() {
		_, errno = c.call(Call{Name: "connect", Peer: to.String()}, func() (int, unix.Errno) { return sysConnect(c.fd, raw) })
	})
	if waits != "" && errno == unix.EINPROGRESS {
		c.awaitEvents(waits, unix.POLLOUT)
		pending, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err != nil {
			w.fail("asking for a connect's result: %w", err)
		}
		errno = unix.Errno(pending)
	}
	c.setNonblock(false)
	c.names()
	return c, errno
}

// connection makes both ends of a connection.
func (w *worker) connection(l *socket, way, form string, port, i int) (client, server *socket) {
	c, errno := w.dial(way, form, port)
	c.expect(errno, 0)
	return c, l.accept(i%2 == 0, i%3 == 0)
}

// tcp makes connections of all forms, moves odd amounts both ways in all ways,
// and ends them from either side; then connects to where nobody listens.
func (w *worker) tcp() {
	for _, f := range []struct {
		form string
		port int
	}{{"4", portTCP4}, {"6", portTCP6}, {"mapped", portMapped}} {
		at := w.addr(B, f.form, f.port)
		if f.form == "mapped" {
			at = netip.AddrPortFrom(netip.IPv6Unspecified(), uint16(f.port))
		}
		l := w.listen(B, familyOf(f.form), at)
		for i := range w.want["tcp"+f.form] {
			c, s := w.connection(l, connectWays[i%len(connectWays)], f.form, f.port, i)
			w.talk(c, s, i)
		}
		l.close()
	}
	for i := range w.want["refused"] {
		form := []string{"4", "6"}[i%2]
		c, errno := w.dial(connectWays[i%3], form, portClosed)
		c.expect(errno, unix.ECONNREFUSED)
		c.close()
	}
}

// talk moves bytes from client to server and back and closes both ends.
func (w *worker) talk(c, s *socket, i int) {
	_, errno := s.tryReceive("recvfrom", make([]byte, 32), unix.MSG_DONTWAIT)
	s.expect(errno, unix.EAGAIN)
	for turn := range 3 {
		n := w.size(9000)
		c.send(sendWays[(i+turn)%len(sendWays)], make([]byte, n))
		if turn == 1 {
			s.awaitQueued(n)
			_, errno := s.tryReceive("recvfrom", make([]byte, n), unix.MSG_PEEK)
			s.expect(errno, 0)
		}
		s.receive(receiveWays[(i+turn)%len(receiveWays)], n)
	}
	n := w.size(3000)
	s.send(sendWays[i%len(sendWays)], make([]byte, n))
	c.receive(receiveWays[(i+2)%len(receiveWays)], n)
	first, second := c, s
	if i%2 == 1 {
		first, second = s, c
	}
	if i%5 == 4 {
		first.must(Call{Name: "shutdown", Flags: unix.SHUT_WR}, func() (int, unix.Errno) {
			return sysShutdown(first.fd, unix.SHUT_WR)
		})
	} else {
		first.close()
	}
	second.eof([]string{"recvfrom", "read", "recvmsg"}[i%3])
	second.close()
	if i%5 == 4 {
		first.eof("read")
		first.close()
	}
}

// resets ends connections with RST: from a client that does not linger, and
// from a server that leaves bytes unread.
func (w *worker) resets() {
	l := w.listen(B, unix.AF_INET, w.addr(B, "4", portReset))
	for i := range w.want["resets"] {
		c, s := w.connection(l, "blocking", "4", portReset, i)
		n := w.size(500)
		c.send("write", make([]byte, n))
		s.awaitQueued(n)
		resetter, victim := c, s
		if i%2 == 0 {
			s.receive("read", n)
			if err := unix.SetsockoptLinger(c.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}); err != nil {
				w.fail("setting SO_LINGER: %w", err)
			}
		} else {
			resetter, victim = s, c
		}
		resetter.close()
		_, errno := victim.tryReceive("recvfrom", make([]byte, 100), 0)
		victim.expect(errno, unix.ECONNRESET)
		_, errno = victim.trySend("sendto", make([]byte, 11), 0)
		victim.expect(errno, unix.EPIPE)
		victim.close()
	}
	l.close()
}
