package traffic

import (
	"golang.org/x/sys/unix"
)

// transferSize is how many bytes a lossy transfer moves: an odd number of
// segments that some loss is sure to hit.
const transferSize = 200_003

// lossy sends transfers through a link that drops packets, and one connect
// through a link that at first drops all. Without netem the transfers still
// run, and nothing is lost.
func (w *worker) lossy() {
	l := w.listen(B, unix.AF_INET, w.addr(B, "4", portLoss))
	defer w.reshape("delay", delayA)
	if w.link.netem {
		w.reshape("delay", delayA, "loss", "100%")
		c, s := w.lateConnect(l)
		w.finish(c, s)
	}
	for i := range w.want["transfers"] {
		c, s := w.connection(l, "blocking", "4", portLoss, i)
		w.reshape("delay", delayA, "loss", loss)
		w.transfer(c, s, transferSize)
		w.reshape("delay", delayA)
		w.finish(c, s)
	}
	if w.link.netem {
		w.largeLost(l)
	}
	l.close()
}

// largeLost loses a whole window that TCP handed down in large packets, so that it is
// retransmitted in buffers of several segments.
func (w *worker) largeLost(l *socket) {
	w.segments("64")
	defer w.segments("1")
	c, s := w.connection(l, "blocking", "4", portLoss, w.want["transfers"])
	w.reshape("delay", delayA, "loss", "100%")
	before := w.counter(A, "Tcp.RetransSegs")
	const size = 30_011 // more than the first window
	c.send("write", make([]byte, size))
	w.until("a timeout", func() bool { return w.counter(A, "Tcp.RetransSegs") > before+1 })
	w.reshape("delay", delayA)
	s.receive("read", size)
	w.finish(c, s)
}

// reshape changes the link where it can be changed.
func (w *worker) reshape(args ...string) {
	if !w.link.netem {
		return
	}
	if err := w.link.shape(args...); err != nil {
		w.fail("%w", err)
	}
}

// lateConnect opens the link only after a SYN was sent again.
func (w *worker) lateConnect(l *socket) (client, server *socket) {
	c := w.open("client", A, unix.AF_INET, unix.SOCK_STREAM)
	to := w.addr(B, "4", portLoss)
	c.setNonblock(true)
	_, errno := c.call(Call{Name: "connect", Peer: to.String()}, func() (int, unix.Errno) {
		return sysConnect(c.fd, rawAddr(to, c.Family))
	})
	c.expect(errno, unix.EINPROGRESS)
	before := w.counter(A, "Tcp.RetransSegs")
	w.until("a SYN to be sent again", func() bool { return w.counter(A, "Tcp.RetransSegs") > before })
	w.reshape("delay", delayA)
	c.poll(unix.POLLOUT)
	c.setNonblock(false)
	c.names()
	return c, l.accept(true, false)
}

// counter reads one of the kernel's counters.
func (w *worker) counter(side Side, name string) int {
	w.in(side)
	all, err := ReadCounters()
	if err != nil {
		w.fail("%w", err)
	}
	return all[name]
}

// transfer pushes n bytes through one thread's two ends.
func (w *worker) transfer(c, s *socket, n int) {
	buf := make([]byte, 32<<10)
	for sent, got := 0, 0; got < n; {
		if sent < n {
			if _, errno := c.trySend("sendto", buf[:min(len(buf), n-sent)], unix.MSG_DONTWAIT); errno == 0 {
				sent += c.last().Bytes()
			} else {
				c.expect(errno, unix.EAGAIN)
			}
		}
		s.poll(unix.POLLIN)
		if _, errno := s.tryReceive("recvfrom", buf, unix.MSG_DONTWAIT); errno == 0 {
			got += s.last().Bytes()
		} else {
			s.expect(errno, unix.EAGAIN)
		}
	}
}

// finish ends a connection from the client's side.
func (w *worker) finish(c, s *socket) {
	c.close()
	s.eof("read")
	s.close()
}

// nagle sends bursts of small writes, first held back by Nagle's rule, then not.
func (w *worker) nagle() {
	l := w.listen(B, unix.AF_INET, w.addr(B, "4", portNagle))
	for i, nodelay := range []int{0, 1} {
		c, s := w.connection(l, "blocking", "4", portNagle, i)
		c.setInt(unix.IPPROTO_TCP, unix.TCP_NODELAY, nodelay)
		total := 0
		for range w.want["nagle"] {
			n := w.size(99)
			c.send("write", make([]byte, n))
			total += n
		}
		s.receive("read", total)
		w.finish(c, s)
	}
	l.close()
}
