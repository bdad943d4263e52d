package traffic

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// backlogs makes listeners wait: for the end of handshakes, so that SYN-ACKs are sent
// again, and for room in an accept queue, so that SYNs are dropped.
func (w *worker) backlogs() {
	w.deferred()
	w.full()
}

// deferred connects to listeners that want data before they take a connection. None
// comes, so the kernel drops the last part of each handshake, sends the SYN-ACK again
// a second later, and takes the answer to that.
func (w *worker) deferred() {
	forms := []string{"4", "6"}
	var listeners, clients []*socket
	for i, form := range forms {
		l := w.listen(B, familyOf(form), w.addr(B, form, portDefer+i))
		l.setInt(unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, 1)
		listeners = append(listeners, l)
	}
	for i := range w.want["synack"] {
		c, errno := w.dial("blocking", forms[i%2], portDefer+i%2)
		c.expect(errno, 0)
		clients = append(clients, c)
	}
	// Handshakes end in any order, so no server is any one client's.
	var servers []*socket
	for i := range clients {
		servers = append(servers, listeners[i%2].accept(true, false))
	}
	for _, c := range clients {
		c.close()
	}
	for _, s := range servers {
		s.eof("read")
		s.close()
	}
	for _, l := range listeners {
		l.close()
	}
}

// full fills an accept queue of one connection and sends SYNs that find no room.
func (w *worker) full() {
	l := w.shortListen(w.addr(B, "4", portQueue))
	opened := w.counter(B, "Tcp.PassiveOpens")
	first, errno := w.dial("blocking", "4", portQueue)
	first.expect(errno, 0)
	w.until("the accept queue to fill", func() bool { return w.counter(B, "Tcp.PassiveOpens") > opened })
	for range w.want["full"] {
		before := w.counter(B, "TcpExt.ListenOverflows")
		c := w.open("client", A, unix.AF_INET, unix.SOCK_STREAM)
		c.setNonblock(true)
		to := w.addr(B, "4", portQueue)
		_, errno := c.call(Call{Name: "connect", Peer: to.String()}, func() (int, unix.Errno) {
			return sysConnect(c.fd, rawAddr(to, c.Family))
		})
		c.expect(errno, unix.EINPROGRESS)
		w.until("a SYN to be dropped", func() bool { return w.counter(B, "TcpExt.ListenOverflows") > before })
		c.close()
	}
	w.finish(first, l.accept(true, false))
	l.close()
}

// shortListen makes a listener whose queue is full with one connection.
func (w *worker) shortListen(at netip.AddrPort) *socket {
	l := w.open("listener", B, unix.AF_INET, unix.SOCK_STREAM)
	l.bind(at)
	l.must(Call{Name: "listen"}, func() (int, unix.Errno) { return sysListen(l.fd, 0) })
	l.names()
	return l
}
