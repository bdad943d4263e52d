package traffic

import (
	"time"

	"golang.org/x/sys/unix"
)

// Ways to move bytes over a connected socket; scenarios take them in turn.
var (
	sendWays    = []string{"sendto", "sendmsg", "write", "writev", "sendmmsg"}
	receiveWays = []string{"recvfrom", "recvmsg", "read", "readv", "recvmmsg"}
)

// send sends b in one call, which must take all of it.
func (s *socket) send(way string, b []byte) {
	n, errno := s.trySend(way, b, 0)
	if errno != 0 || s.last().Bytes() != len(b) {
		s.w.fail("%s of %d bytes on socket %d: %d, %v", way, len(b), s.Index, n, errno)
	}
}

// trySend makes one sending call, whatever comes of it.
func (s *socket) trySend(way string, b []byte, flags int) (int, unix.Errno) {
	flags |= unix.MSG_NOSIGNAL
	c := Call{Name: way, Asked: len(b)}
	var messages []int
	n, errno := 0, unix.Errno(0)
	switch way {
	case "sendto":
		c.Flags = flags
		n, errno = s.call(c, func() (int, unix.Errno) { return sysSendto(s.fd, b, flags, nil) })
	case "sendmsg":
		c.Flags = flags
		n, errno = s.call(c, func() (int, unix.Errno) { return msg(unix.SYS_SENDMSG, s.fd, b, flags, nil) })
	case "write":
		n, errno = s.call(c, func() (int, unix.Errno) { return rw(unix.SYS_WRITE, s.fd, b) })
	case "writev":
		n, errno = s.call(c, func() (int, unix.Errno) { return rwv(unix.SYS_WRITEV, s.fd, b) })
	case "sendmmsg":
		c.Flags = flags
		n, errno = s.call(c, func() (n int, errno unix.Errno) {
			n, messages, errno = mmsg(unix.SYS_SENDMMSG, s.fd, split(b), flags, nil)
			return n, errno
		})
		s.last().Messages = messages
	}
	s.Sent += s.last().Bytes()
	return n, errno
}

// split makes two messages of b, the first a third, when it is long enough.
func split(b []byte) [][]byte {
	if len(b) < 3 {
		return [][]byte{b}
	}
	return [][]byte{b[:len(b)/3], b[len(b)/3:]}
}

// receive reads until n bytes came, blocking.
func (s *socket) receive(way string, n int) {
	if way == "recvmmsg" {
		// It would block for its last message: let all come first.
		s.awaitQueued(n)
	}
	for got := 0; got < n; {
		_, errno := s.tryReceive(way, make([]byte, n-got), 0)
		if errno != 0 || s.last().Bytes() == 0 {
			s.w.fail("%s on socket %d after %d of %d bytes: %v", way, s.Index, got, n, errno)
		}
		got += s.last().Bytes()
	}
}

// tryReceive makes one receiving call, whatever comes of it.
func (s *socket) tryReceive(way string, b []byte, flags int) (int, unix.Errno) {
	c := Call{Name: way, Asked: len(b)}
	var messages []int
	n, errno := 0, unix.Errno(0)
	switch way {
	case "recvfrom":
		c.Flags = flags
		n, errno = s.call(c, func() (int, unix.Errno) {
			n, _, errno := sysRecvfrom(s.fd, b, flags, false)
			return n, errno
		})
	case "recvmsg":
		c.Flags = flags
		n, errno = s.call(c, func() (int, unix.Errno) { return msg(unix.SYS_RECVMSG, s.fd, b, flags, nil) })
	case "read":
		n, errno = s.call(c, func() (int, unix.Errno) { return rw(unix.SYS_READ, s.fd, b) })
	case "readv":
		n, errno = s.call(c, func() (int, unix.Errno) { return rwv(unix.SYS_READV, s.fd, b) })
	case "recvmmsg":
		c.Flags = flags
		n, errno = s.call(c, func() (n int, errno unix.Errno) {
			n, messages, errno = mmsg(unix.SYS_RECVMMSG, s.fd, split(b), flags, nil)
			return n, errno
		})
		s.last().Messages = messages
	}
	if flags&unix.MSG_PEEK == 0 {
		s.Received += s.last().Bytes()
	}
	return n, errno
}

// eof reads the end that the peer's close sent.
func (s *socket) eof(way string) {
	if n, errno := s.tryReceive(way, make([]byte, 64), 0); n != 0 || errno != 0 {
		s.w.fail("%s at the end of socket %d: %d, %v, want 0", way, s.Index, n, errno)
	}
}

// Done is what the command says when its traffic is over and it stays.
const Done = "done"

// patience bounds every wait for the network; emulated machines are slow, and those that
// share their CPUs with others even more.
const patience = 5 * time.Minute

// awaitQueued waits until n bytes can be read, without a call that the log
// would have to hold.
func (s *socket) awaitQueued(n int) {
	s.w.until("bytes to arrive", func() bool {
		got, err := unix.IoctlGetInt(s.fd, unix.SIOCINQ)
		if err != nil {
			s.w.fail("asking socket %d for queued bytes: %w", s.Index, err)
		}
		return got >= n
	})
}

// until waits for a condition.
func (w *worker) until(what string, done func() bool) {
	deadline := time.Now().Add(patience)
	for !done() {
		if time.Now().After(deadline) {
			w.fail("waited %v for %s", patience, what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
