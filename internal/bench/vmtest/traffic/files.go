package traffic

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// FileIO is how often the logged thread called one function of the kernel's layer of file
// systems for files of one type, each time with FileIOSize bytes.
type FileIO struct {
	Func  string `json:"func"`
	Type  string `json:"type"`
	Count int    `json:"count"`
}

// FileIOSize is a size that nothing else in the process asks for.
const FileIOSize = 4321

// files reads and writes what is no socket.
func (w *worker) files() {
	w.in(A)
	f, err := os.CreateTemp("", "file-")
	if err != nil {
		w.fail("making a file: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		w.fail("making a pipe: %w", err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	zero, err := unix.Open("/dev/zero", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		w.fail("opening the zero device: %w", err)
	}
	defer unix.Close(zero)
	b, n, fd := make([]byte, FileIOSize), w.want["fileio"], int(f.Fd())
	w.fileIO("vfs_write", "regular", n, func() (int, unix.Errno) { return rw(unix.SYS_WRITE, fd, b) })
	if _, err := unix.Seek(fd, 0, 0); err != nil {
		w.fail("going back in a file: %w", err)
	}
	w.fileIO("vfs_read", "regular", n-2, func() (int, unix.Errno) { return rw(unix.SYS_READ, fd, b) })
	w.fileIO("vfs_read", "character", n-4, func() (int, unix.Errno) { return rw(unix.SYS_READ, zero, b) })
	const held = 7 // less than a pipe holds
	w.fileIO("vfs_writev", "fifo", held, func() (int, unix.Errno) { return rwv(unix.SYS_WRITEV, pipe[1], b) })
	w.fileIO("vfs_readv", "fifo", held, func() (int, unix.Errno) { return rwv(unix.SYS_READV, pipe[0], b) })
}

func (w *worker) fileIO(fn, typ string, count int, call func() (int, unix.Errno)) {
	for range count {
		if n, errno := call(); n != FileIOSize || errno != 0 {
			w.fail("%s of a %s file: %d, %v", fn, typ, n, errno)
		}
	}
	w.log.FileIO = append(w.log.FileIO, FileIO{fn, typ, count})
}

// Exec is one process that began a new program with sockets of this one in its table.
type Exec struct {
	PID int `json:"pid"`
	// Closed are the descriptors of sockets that were marked to be closed, Kept the others.
	Closed []int `json:"closed"`
	Kept   []int `json:"kept"`
	Begin  int64 `json:"begin"`
	End    int64 `json:"end"`
}

// execs starts programs while sockets are open of which exec closes some.
func (w *worker) execs() {
	var held []*socket
	for i := range w.want["held"] {
		s := w.open("held", A, unix.AF_INET6, unix.SOCK_STREAM)
		if i%3 == 2 {
			if _, err := unix.FcntlInt(uintptr(s.fd), unix.F_SETFD, 0); err != nil {
				w.fail("letting a socket outlive exec: %w", err)
			}
		}
		held = append(held, s)
	}
	for range w.want["execs"] {
		e := w.execMarks()
		cmd := exec.Command("true")
		e.Begin = now()
		if err := cmd.Run(); err != nil {
			w.fail("running a program: %w", err)
		}
		e.End, e.PID = now(), cmd.Process.Pid
		w.log.Execs = append(w.log.Execs, e)
	}
	for _, s := range held {
		s.close()
	}
}

// execMarks looks which sockets of this process are marked to be closed by exec.
func (w *worker) execMarks() (e Exec) {
	names, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(names) == 0 {
		w.fail("listing descriptors: %d, %w", len(names), err)
	}
	for _, name := range names {
		fd, err := strconv.Atoi(filepath.Base(name))
		if err != nil || fileType(fd) != "socket" {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil {
			w.fail("looking at descriptor %d: %w", fd, fmt.Errorf("flags: %w", err))
		}
		if flags&unix.FD_CLOEXEC != 0 {
			e.Closed = append(e.Closed, fd)
		} else {
			e.Kept = append(e.Kept, fd)
		}
	}
	return e
}
