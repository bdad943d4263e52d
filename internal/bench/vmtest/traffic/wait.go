package traffic

import (
	"fmt"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// waitWays are the calls that wait for descriptors.
var waitWays = []string{"poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"}

// eventNames spells events of poll as this package's log does.
func eventNames(events uint32) string {
	var out []string
	for _, e := range []struct {
		bit  uint32
		name string
	}{{unix.POLLIN, "IN"}, {unix.POLLPRI, "PRI"}, {unix.POLLOUT, "OUT"}, {unix.POLLERR, "ERR"}, {unix.POLLHUP, "HUP"}} {
		if events&e.bit != 0 {
			out = append(out, e.name)
		}
	}
	return strings.Join(out, "|")
}

// poll waits for events on a socket with poll.
func (s *socket) poll(events int16) { s.awaitEvents("poll", events) }

// awaitEvents waits until a socket is ready, in one of the ways.
func (s *socket) awaitEvents(way string, events int16) {
	if n := s.wait(way, events, patience); n != 1 {
		s.w.fail("waiting for socket %d: %d ready", s.Index, n)
	}
}

// wait makes one call that waits for events on the socket.
func (s *socket) wait(way string, events int16, timeout time.Duration) int {
	s.w.in(s.Side)
	c := Call{Name: way, Watched: fmt.Sprintf("%d:%s", s.fd, eventNames(uint32(events))), Timeout: timeout.Nanoseconds()}
	switch way {
	case "poll", "ppoll":
		return s.waitPoll(c, []unix.PollFd{{Fd: int32(s.fd), Events: events}})
	case "select", "pselect6":
		return s.waitSelect(c, events)
	}
	return s.waitEpoll(c, events)
}

// waitPoll is poll or ppoll.
func (s *socket) waitPoll(c Call, fds []unix.PollFd) int {
	n := s.must(c, func() (int, unix.Errno) {
		p, count := uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds))
		if c.Name == "poll" {
			return sys3(unix.SYS_POLL, p, count, uintptr(c.Timeout/1e6))
		}
		ts := unix.NsecToTimespec(c.Timeout)
		r, _, errno := unix.Syscall6(unix.SYS_PPOLL, p, count, uintptr(unsafe.Pointer(&ts)), 0, 8, 0)
		return int(r), errno
	})
	var ready []string
	for _, f := range fds {
		if f.Revents != 0 {
			ready = append(ready, fmt.Sprintf("%d:%s", f.Fd, eventNames(uint32(f.Revents))))
		}
	}
	s.last().Ready = strings.Join(ready, ",")
	return n
}

// waitSelect is select or pselect6; its sets of 1024 are the kernel's.
func (s *socket) waitSelect(c Call, events int16) int {
	var in, out, except unix.FdSet
	if events&unix.POLLIN != 0 {
		in.Set(s.fd)
	}
	if events&unix.POLLOUT != 0 {
		out.Set(s.fd)
	}
	n := s.must(c, func() (int, unix.Errno) {
		ts, tv := unix.NsecToTimespec(c.Timeout), unix.NsecToTimeval(c.Timeout)
		nr, limit := uintptr(unix.SYS_SELECT), unsafe.Pointer(&tv)
		if c.Name == "pselect6" {
			nr, limit = unix.SYS_PSELECT6, unsafe.Pointer(&ts)
		}
		r, _, errno := unix.Syscall6(nr, uintptr(s.fd+1), uintptr(unsafe.Pointer(&in)), uintptr(unsafe.Pointer(&out)),
			uintptr(unsafe.Pointer(&except)), uintptr(limit), 0)
		return int(r), errno
	})
	var ready uint32
	if in.IsSet(s.fd) {
		ready |= unix.POLLIN
	}
	if out.IsSet(s.fd) {
		ready |= unix.POLLOUT
	}
	if ready != 0 {
		s.last().Ready = fmt.Sprintf("%d:%s", s.fd, eventNames(ready))
	}
	return n
}

// epollMark is put beside the descriptor in epoll's data, so that the two differ.
const epollMark = 7

// waitEpoll makes an epoll of the socket alone, waits for it, changes what it waits for
// and takes it out.
func (s *socket) waitEpoll(c Call, events int16) int {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		s.w.fail("creating an epoll: %w", err)
	}
	defer unix.Close(ep)
	watched := c.Watched
	c.Watched = ""
	s.epollCtl(ep, unix.EPOLL_CTL_ADD, uint32(events), watched)
	var got [2]unix.EpollEvent
	n := s.must(c, func() (int, unix.Errno) {
		p := uintptr(unsafe.Pointer(&got[0]))
		ts := unix.NsecToTimespec(c.Timeout)
		nr, timeout := uintptr(unix.SYS_EPOLL_WAIT), uintptr(c.Timeout/1e6)
		switch c.Name {
		case "epoll_pwait":
			nr = unix.SYS_EPOLL_PWAIT
		case "epoll_pwait2":
			nr, timeout = unix.SYS_EPOLL_PWAIT2, uintptr(unsafe.Pointer(&ts))
		}
		r, _, errno := unix.Syscall6(nr, uintptr(ep), p, uintptr(len(got)), timeout, 0, 8)
		return int(r), errno
	})
	if n == 1 {
		s.last().Ready = fmt.Sprintf("%#x:%s", uint64(epollMark)<<32|uint64(s.fd), eventNames(got[0].Events))
	}
	s.epollCtl(ep, unix.EPOLL_CTL_MOD, unix.EPOLLIN|unix.EPOLLOUT, fmt.Sprintf("%d:IN|OUT", s.fd))
	s.epollCtl(ep, unix.EPOLL_CTL_DEL, 0, "")
	return n
}

func (s *socket) epollCtl(ep, op int, events uint32, watched string) {
	ev := unix.EpollEvent{Events: events, Fd: int32(s.fd), Pad: epollMark}
	s.must(Call{Name: "epoll_ctl", Flags: op, Watched: watched}, func() (int, unix.Errno) {
		r, _, errno := unix.Syscall6(unix.SYS_EPOLL_CTL, uintptr(ep), uintptr(op), uintptr(s.fd), uintptr(unsafe.Pointer(&ev)), 0, 0)
		return int(r), errno
	})
}

// manyFDs is more descriptors than a record has room for.
const manyFDs = 19

// waits waits in all ways for a socket that has something to read, and for one that
// has nothing; then for more descriptors at once than a recorder may keep.
func (w *worker) waits() {
	a, b := w.pair()
	ways := waitWays
	if _, errno := b.call(Call{Name: "epoll_pwait2"}, func() (int, unix.Errno) {
		_, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, ^uintptr(0), 0, 0, 0, 0, 0)
		return -1, errno
	}); errno == unix.ENOSYS { // before 5.11
		ways, b.Calls = ways[:len(ways)-1], b.Calls[:len(b.Calls)-1]
	}
	for i := range w.want["waits"] {
		way := ways[i%len(ways)]
		if n := b.wait(way, unix.POLLIN, time.Duration(i)*time.Millisecond/8); n != 0 {
			w.fail("%s found %d descriptors ready that were not", way, n)
		}
		n := w.size(900)
		a.send("write", make([]byte, n))
		if n := b.wait(way, unix.POLLIN, patience); n != 1 {
			w.fail("%s found %d descriptors ready, want 1", way, n)
		}
		b.receive("read", n)
	}
	fds := make([]unix.PollFd, manyFDs)
	for i := range fds {
		fds[i] = unix.PollFd{Fd: int32(a.fd), Events: unix.POLLOUT}
	}
	each := fmt.Sprintf("%d:OUT", a.fd)
	c := Call{Name: "poll", Watched: strings.Repeat(each+",", manyFDs-1) + each, Timeout: patience.Nanoseconds()}
	if n := a.waitPoll(c, fds); n != manyFDs {
		w.fail("%d of %d descriptors ready", n, manyFDs)
	}
	w.finish(a, b)
}
