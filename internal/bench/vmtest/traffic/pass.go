package traffic

import (
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Passed is one descriptor that a message of a UNIX socket carried.
type Passed struct {
	// Dir is send or recv.
	Dir string `json:"dir"`
	// FD is the socket's descriptor, Passed the one in the message.
	FD     int `json:"fd"`
	Passed int `json:"passed"`
	// Nth is the position among the Count of the message.
	Nth   int `json:"nth"`
	Count int `json:"count"`
	// Inode, Type and Name are the file's; Name is as /proc has it.
	Inode uint64 `json:"inode"`
	Type  string `json:"type"`
	Name  string `json:"name"`
	Enter int64  `json:"enter"`
	Exit  int64  `json:"exit"`
}

// passes sends descriptors of files of all types over a pair of UNIX sockets, one or
// several in a message, and sometimes to a receiver that has room for only one.
func (w *worker) passes() {
	goods, end := w.goods()
	defer end()
	a, b := w.pair()
	for i := range w.want["passed"] {
		fds := make([]int, 1+2*(i%3))
		for j := range fds {
			fds[j] = goods[(i+j)%len(goods)]
		}
		room := len(fds)
		if i%7 == 6 {
			room = 1
		}
		a.pass(fds, i%5 == 4)
		b.take(len(fds), room)
	}
	w.finish(a, b)
}

// goods opens one file of each type; end closes them.
func (w *worker) goods() (fds []int, end func()) {
	w.in(A)
	dir, err := os.MkdirTemp("", "passed-")
	if err != nil {
		w.fail("making a folder: %w", err)
	}
	deep := filepath.Join(dir, "some", "way", "down")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		w.fail("making a folder: %w", err)
	}
	file, err := unix.Open(filepath.Join(deep, "file.txt"), unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if err != nil {
		w.fail("making a file: %w", err)
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		w.fail("opening the null device: %w", err)
	}
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		w.fail("making an event descriptor: %w", err)
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		w.fail("making a pipe: %w", err)
	}
	s := w.open("goods", A, unix.AF_INET, unix.SOCK_STREAM)
	return []int{file, s.fd, pipe[0], event, null}, func() {
		s.close()
		for _, fd := range []int{file, null, event, pipe[0], pipe[1]} {
			unix.Close(fd)
		}
		os.RemoveAll(dir)
	}
}

// control makes one message that may carry descriptors, and gives the length of the control messages
// that came.
func control(nr uintptr, fd int, b, oob []byte, flags int) (n, oobn int, errno unix.Errno) {
	h := header(b, nil)
	h.Control = (*byte)(pointer(oob))
	h.SetControllen(len(oob))
	r, _, errno := unix.Syscall(nr, uintptr(fd), uintptr(unsafe.Pointer(&h)), uintptr(flags))
	return int(r), int(h.Controllen), errno
}

// pass sends descriptors, all in one control message or the last in one of its own.
func (s *socket) pass(fds []int, apart bool) {
	oob := unix.UnixRights(fds...)
	if apart && len(fds) > 1 {
		oob = append(unix.UnixRights(fds[:len(fds)-1]...), unix.UnixRights(fds[len(fds)-1])...)
	}
	s.must(Call{Name: "sendmsg", Asked: 1}, func() (int, unix.Errno) {
		n, _, errno := control(unix.SYS_SENDMSG, s.fd, []byte{1}, oob, unix.MSG_NOSIGNAL)
		return n, errno
	})
	s.Sent++
	for i, fd := range fds {
		s.wrote("send", fd, i, len(fds))
	}
}

// take receives the message of one pass with room for some of its descriptors, and
// closes them.
func (s *socket) take(count, room int) {
	oob := make([]byte, unix.CmsgLen(4*room))
	var oobn int
	s.must(Call{Name: "recvmsg", Asked: 1}, func() (n int, errno unix.Errno) {
		n, oobn, errno = control(unix.SYS_RECVMSG, s.fd, make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
		return n, errno
	})
	s.Received++
	msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(msgs) != 1 {
		s.w.fail("reading %d control messages: %w", len(msgs), err)
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != room {
		s.w.fail("reading %d descriptors, want %d: %w", len(fds), room, err)
	}
	for i, fd := range fds {
		s.wrote("recv", fd, i, count)
	}
	for _, fd := range fds {
		if fileType(fd) == "socket" {
			s.w.adopt(&Socket{Role: "taken", Side: A, FD: fd, From: -1, Family: "inet", Type: "stream"}).close()
			continue
		}
		unix.Close(fd)
	}
}

// wrote puts a descriptor of the socket's last call into the log.
func (s *socket) wrote(dir string, fd, nth, count int) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		s.w.fail("looking at a passed file: %w", err)
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		s.w.fail("asking for the name of a passed file: %w", err)
	}
	c := s.last()
	s.w.log.Passed = append(s.w.log.Passed, Passed{Dir: dir, FD: s.fd, Passed: fd, Nth: nth, Count: count, Inode: st.Ino,
		Type: fileType(fd), Name: name, Enter: c.Enter, Exit: c.Exit})
}

// fileType is the type bits of a file's mode, spelled out.
func fileType(fd int) string {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return ""
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return "regular"
	case unix.S_IFSOCK:
		return "socket"
	case unix.S_IFIFO:
		return "fifo"
	case unix.S_IFCHR:
		return "character"
	}
	return "0" // the kernel gives some files none
}
