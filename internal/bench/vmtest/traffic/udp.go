package traffic

import (
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// udp moves datagrams between connected and unconnected sockets, then drops
// some: at a port nobody has, and at a receive buffer that is full.
func (w *worker) udp() {
	for _, form := range []string{"4", "6", "mapped"} {
		w.datagrams(form)
	}
	w.many()
	for i := range w.want["udpclosed"] {
		w.unreachable([]string{"4", "6"}[i%2])
	}
	w.overflow()
}

// bound makes a UDP socket on a port of side B.
func (w *worker) bound(form string, port int) *socket {
	return w.boundTo(familyOf(form), w.addr(B, form, port))
}

func (w *worker) boundTo(family int, at netip.AddrPort) *socket {
	s := w.open("server", B, family, unix.SOCK_DGRAM)
	s.bind(at)
	s.names()
	return s
}

// connected makes a UDP client that has a peer.
func (w *worker) connected(form string, port int) *socket {
	return w.connectedTo(familyOf(form), w.addr(B, form, port))
}

func (w *worker) connectedTo(family int, to netip.AddrPort) *socket {
	c := w.open("client", A, family, unix.SOCK_DGRAM)
	c.must(Call{Name: "connect", Peer: to.String()}, func() (int, unix.Errno) {
		return sysConnect(c.fd, rawAddr(to, c.Family))
	})
	c.names()
	return c
}

// datagrams sends in all ways, receives with and without the peer's address,
// answers each, peeks, cuts one short and ends with an empty one.
func (w *worker) datagrams(form string) {
	s, c := w.bound(form, portUDP), w.connected(form, portUDP)
	u := w.open("client", A, familyOf(form), unix.SOCK_DGRAM)
	to := w.addr(B, form, portUDP)
	for i := range w.want["udp"+form] {
		n := w.size(1300)
		if i%2 == 0 {
			c.send(sendWays[i/2%4], make([]byte, n))
			s.expectDatagram(receiveWays[i/2%4], n, n)
			continue
		}
		u.sendTo(to, n)
		u.names()
		_, errno := s.tryReceive("recvfrom", make([]byte, 2048), unix.MSG_PEEK)
		s.expect(errno, 0)
		peer := s.receiveFrom(2048)
		s.sendTo(peer, n/2)
		u.expectDatagram("recvmsg", 2048, n/2)
	}
	c.send("write", make([]byte, 1201))
	s.expectDatagram("read", 101, 101)
	u.sendTo(to, 0)
	s.receiveFrom(16)
	_, errno := s.tryReceive("recvmsg", make([]byte, 16), unix.MSG_DONTWAIT)
	s.expect(errno, unix.EAGAIN)
	for _, x := range []*socket{c, u, s} {
		x.close()
	}
}

// sendTo sends a datagram of n bytes to an address.
func (s *socket) sendTo(to netip.AddrPort, n int) {
	c := Call{Name: "sendto", Asked: n, Peer: to.String()}
	if got := s.must(c, func() (int, unix.Errno) {
		return sysSendto(s.fd, make([]byte, n), 0, rawAddr(to, s.Family))
	}); got != n {
		s.w.fail("sent %d of %d bytes", got, n)
	}
	s.Sent += n
}

// receiveFrom takes a datagram and gives who sent it.
func (s *socket) receiveFrom(limit int) netip.AddrPort {
	var peer string
	n := s.must(Call{Name: "recvfrom", Asked: limit}, func() (int, unix.Errno) {
		n, from, errno := sysRecvfrom(s.fd, make([]byte, limit), 0, true)
		peer = from
		return n, errno
	})
	s.last().Peer = peer
	s.Received += n
	from, err := netip.ParseAddrPort(peer)
	if err != nil {
		s.w.fail("reading a sender's address: %w", err)
	}
	return from
}

// expectDatagram receives one datagram into a buffer and checks its length.
func (s *socket) expectDatagram(way string, buffer, want int) {
	n, errno := s.tryReceive(way, make([]byte, buffer), 0)
	if errno != 0 || n != want {
		s.w.fail("%s on socket %d: %d, %v, want %d", way, s.Index, n, errno, want)
	}
}

// many sends several datagrams with one call and receives them with one that
// asks for more than there are.
func (w *worker) many() {
	s, c := w.bound("4", portUDP), w.connected("4", portUDP)
	n := w.want["udpmmsg"]
	var out, in [][]byte
	total := 0
	for range n {
		out = append(out, make([]byte, w.size(700)))
		total += len(out[len(out)-1])
		in = append(in, make([]byte, 2048))
	}
	c.moveMany("sendmmsg", unix.SYS_SENDMMSG, out, 0)
	c.Sent += total
	for range n {
		s.poll(unix.POLLIN)
	}
	w.settle(B, "Udp.InDatagrams")
	in = append(in, make([]byte, 2048))
	if got := s.moveMany("recvmmsg", unix.SYS_RECVMMSG, in, unix.MSG_DONTWAIT); got != n {
		w.fail("recvmmsg gave %d of %d datagrams", got, n)
	}
	s.last().Tries = n + 1
	s.Received += total
	c.close()
	s.close()
}

// moveMany is one sendmmsg or recvmmsg.
func (s *socket) moveMany(name string, nr uintptr, bufs [][]byte, flags int) int {
	asked, messages := 0, []int(nil)
	for _, b := range bufs {
		asked += len(b)
	}
	n := s.must(Call{Name: name, Asked: asked, Flags: flags}, func() (n int, errno unix.Errno) {
		n, messages, errno = mmsg(nr, s.fd, bufs, flags, nil)
		return n, errno
	})
	s.last().Messages = messages
	return n
}

// settle waits until the network has delivered what was sent: three link delays
// in which nothing more came.
func (w *worker) settle(side Side, name string) {
	last := -1
	w.until(name+" to rest", func() bool {
		n := w.counter(side, name)
		same := n == last
		last = n
		if !same {
			time.Sleep(100 * time.Millisecond)
		}
		return same
	})
}

// unreachable sends to a port that nobody has. The kernel limits how many
// errors it sends back, so the second call may end either way.
func (w *worker) unreachable(form string) {
	c := w.connected(form, portClosed)
	c.send("sendto", make([]byte, w.size(300)))
	w.settle(B, map[string]string{"4": "Udp.NoPorts", "6": "Udp6NoPorts"}[form])
	_, errno := c.tryReceive("recvfrom", make([]byte, 16), unix.MSG_DONTWAIT)
	c.expect(errno, unix.ECONNREFUSED, unix.EAGAIN)
	c.close()
}

// overflow sends more than a receive buffer holds, then reads what fitted.
func (w *worker) overflow() {
	s, c := w.bound("4", portFull), w.connected("4", portFull)
	s.setInt(unix.SOL_SOCKET, unix.SO_RCVBUF, 4096)
	for range w.want["overflow"] {
		c.send("sendto", make([]byte, 1001))
	}
	w.settle(B, "Udp.RcvbufErrors")
	for {
		if _, errno := s.tryReceive("recvfrom", make([]byte, 2048), unix.MSG_DONTWAIT); errno != 0 {
			s.expect(errno, unix.EAGAIN)
			break
		}
	}
	c.close()
	s.close()
}
