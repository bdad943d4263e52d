package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// unix moves bytes over UNIX sockets: streams with a listener, and a pair.
func (w *worker) unix() {
	for i := range w.want["unix"] {
		name := fmt.Sprintf("netrec-traffic-%d-%d", w.log.PID, i)
		l := w.open("listener", A, unix.AF_UNIX, unix.SOCK_STREAM)
		l.must(Call{Name: "bind", Peer: "@" + name}, func() (int, unix.Errno) { return sysBind(l.fd, rawUnix(name)) })
		l.must(Call{Name: "listen", Asked: 8}, func() (int, unix.Errno) { return sysListen(l.fd, 8) })
		l.names()
		c := w.open("client", A, unix.AF_UNIX, unix.SOCK_STREAM)
		c.must(Call{Name: "connect", Peer: "@" + name}, func() (int, unix.Errno) { return sysConnect(c.fd, rawUnix(name)) })
		s := l.accept(i%2 == 0, i%2 == 1)
		n := w.size(4000)
		c.send(sendWays[i%4], make([]byte, n))
		s.receive(receiveWays[i%4], n)
		w.finish(c, s)
		l.close()
	}
	a, b := w.pair()
	n := w.size(4000)
	a.send("sendmsg", make([]byte, n))
	b.receive("recvmsg", n)
	w.finish(a, b)
}

// pair makes two connected UNIX sockets with one call.
func (w *worker) pair() (a, b *socket) {
	w.in(A)
	enter := now()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		w.fail("making a socket pair: %w", err)
	}
	made := func(fd int) *socket {
		return w.adopt(&Socket{Role: "pair", Side: A, FD: fd, From: -1, Family: "unix", Type: "stream",
			Calls: []Call{{Name: "socketpair", FD: fd, Enter: enter, Exit: now()}}})
	}
	return made(fds[0]), made(fds[1])
}

// firstHigh is where descriptors are moved to lie side by side.
const firstHigh = 400

// closes ends sockets in the ways that are not one close of one descriptor: a
// copy that outlives it, and a whole range at once.
func (w *worker) closes() {
	l := w.listen(B, unix.AF_INET, w.addr(B, "4", portClose))
	n := w.want["closerange"]
	var clients, servers []*socket
	for i := range n {
		c, s := w.connection(l, "blocking", "4", portClose, i)
		high := c.dup("fcntl", firstHigh+i)
		if high != firstHigh+i {
			w.fail("copying a descriptor to %d: %d", firstHigh+i, high)
		}
		// The socket lives on in its copy.
		c.close()
		c.fd = high
		clients, servers = append(clients, c), append(servers, s)
	}
	c := clients[0]
	// Marking them for exec closes none, so it is not in the log. 5.10 cannot.
	_, _ = sysCloseRange(firstHigh, firstHigh+n-1, unix.CLOSE_RANGE_CLOEXEC)
	call := Call{Name: "close_range", Asked: n}
	c.must(call, func() (int, unix.Errno) { return sysCloseRange(firstHigh, firstHigh+n-1, 0) })
	for _, s := range servers {
		s.eof("read")
		s.close()
	}
	l.close()
}
