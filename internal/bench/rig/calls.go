package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Kinds are the system calls that can be watched, by their names. That by which the watch itself begins,
// sendmsg, cannot.
var Kinds = map[string]uintptr{
	"write": unix.SYS_WRITE, "pwrite64": unix.SYS_PWRITE64, "pread64": unix.SYS_PREAD64, "fdatasync": unix.SYS_FDATASYNC, "fsync": unix.SYS_FSYNC,
	"fallocate": unix.SYS_FALLOCATE, "ftruncate": unix.SYS_FTRUNCATE, "fstat": unix.SYS_FSTAT, "openat": unix.SYS_OPENAT,
	"renameat": unix.SYS_RENAMEAT, "renameat2": unix.SYS_RENAMEAT2, "linkat": unix.SYS_LINKAT, "unlinkat": unix.SYS_UNLINKAT,
	"mmap": unix.SYS_MMAP, "munmap": unix.SYS_MUNMAP, "clock_gettime": unix.SYS_CLOCK_GETTIME, "close": unix.SYS_CLOSE,
	"epoll_pwait": unix.SYS_EPOLL_PWAIT, "bpf": unix.SYS_BPF, "read": unix.SYS_READ, "socket": unix.SYS_SOCKET,
	"flock": unix.SYS_FLOCK, "perf_event_open": unix.SYS_PERF_EVENT_OPEN,
}

// Syscall is a call of a recorder or one of its helpers, before the kernel has done anything.
type Syscall struct {
	Kind string
	N    int // of this kind so far, from 1
	Tid  int
	Args [6]uint64
}

// Answer is what becomes of a call: nothing special, by default.
type Answer struct {
	Errno unix.Errno    // instead of the call
	After time.Duration // time that passes before
	Kill  bool          // the whole process, instead of the call
}

// Judge decides about calls, one after the other.
type Judge func(Syscall) Answer

// Watched is a recorder whose system calls are judged. The kernel asks through seccomp, so
// the recorder knows nothing of it, and all threads and helpers are counted together.
type Watched struct {
	*Recorder
	mu       sync.Mutex
	seen     map[string]int
	listener int
	kinds    map[uintptr]string
	judge    Judge
	done     chan struct{}
}

const (
	watchEnv  = "NETREC_RIG_WATCH" // numbers of the calls to be watched
	watchSock = 3
)

// Watch starts a recorder under a judge of calls of some kinds and waits for nothing.
func Watch(judge Judge, kinds []string, bin, path string, args ...string) (*Watched, error) {
	w := &Watched{seen: map[string]int{}, kinds: map[uintptr]string{}, judge: judge, done: make(chan struct{})}
	var numbers []string
	for _, k := range kinds {
		nr, ok := Kinds[k]
		if !ok {
			return nil, fmt.Errorf("no system call %q", k)
		}
		w.kinds[nr], numbers = k, append(numbers, strconv.Itoa(int(nr)))
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "watch")
	w.Recorder, err = startBy(func(cmd *exec.Cmd) {
		cmd.Args = append([]string{"watched", cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/proc/self/exe"
		cmd.Env = append(os.Environ(), watchEnv+"="+strings.Join(numbers, ","))
		cmd.ExtraFiles = []*os.File{theirs}
	}, bin, path, args...)
	theirs.Close()
	defer unix.Close(pair[0])
	if err != nil {
		return nil, err
	}
	if w.listener, err = receiveFile(pair[0]); err != nil {
		_, _, _ = w.End(syscall.SIGKILL)
		return nil, fmt.Errorf("watch system calls: %w\n%s", err, w.Said())
	}
	go w.run()
	return w, nil
}

// Seen is how many calls of a kind there were.
func (w *Watched) Seen(kind string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[kind]
}

// Close ends the watch; to be called once the recorder has ended.
func (w *Watched) Close() { <-w.done }

// question and answer of the kernel, struct seccomp_notif and seccomp_notif_resp.
type (
	question struct {
		id         uint64
		pid, flags uint32
		nr         int32
		arch       uint32
		ip         uint64
		args       [6]uint64
	}
	verdict struct {
		id    uint64
		val   int64
		err   int32
		flags uint32
	}
)

// run answers until no process is left that could ask.
func (w *Watched) run() {
	defer close(w.done)
	defer unix.Close(w.listener)
	for {
		fds := []unix.PollFd{{Fd: int32(w.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			if fds[0].Revents != 0 { // hung up
				return
			}
			continue
		}
		var q question
		if w.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&q)) != 0 {
			continue // who asked is gone
		}
		w.answer(&q)
	}
}

// ioctl asks the kernel about the listener, again where a signal came between.
func (w *Watched) ioctl(request uintptr, arg unsafe.Pointer) unix.Errno {
	for {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(w.listener), request, uintptr(arg)); errno != unix.EINTR {
			return errno
		}
	}
}

func (w *Watched) answer(q *question) {
	w.mu.Lock()
	kind := w.kinds[uintptr(q.nr)]
	w.seen[kind]++
	c := Syscall{Kind: kind, N: w.seen[kind], Tid: int(q.pid), Args: q.args}
	w.mu.Unlock()
	a := w.judge(c)
	if a.Kill {
		_, _ = w.Signal(syscall.SIGKILL) // a helper that asked gets its answer
	}
	v := verdict{id: q.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	if a.Errno != 0 {
		v.err, v.flags = -int32(a.Errno), 0
	}
	send := func() { w.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&v)) }
	if a.After > 0 { // others are not kept waiting
		go func() {
			time.Sleep(a.After)
			send()
		}()
		return
	}
	send()
}

// InitWatch must be called before any test of packages that use Watch, in an init.
func InitWatch() {
	list := os.Getenv(watchEnv)
	if list == "" {
		return
	}
	os.Unsetenv(watchEnv)
	if err := beWatched(strings.Split(list, ",")); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}

// beWatched asks the kernel to ask about calls, hands over where, and becomes the recorder.
func beWatched(numbers []string) error {
	const nr = 0 // offset in struct seccomp_data
	prog := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: nr}}
	for i, s := range numbers {
		n, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		prog = append(prog, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(n), Jt: uint8(len(numbers) - i)})
	}
	prog = append(prog, unix.SockFilter{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW}, unix.SockFilter{Code: unix.BPF_RET, K: unix.SECCOMP_RET_USER_NOTIF})
	fprog := &unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	runtime.LockOSThread()
	debug.SetGCPercent(-1) // between the two calls below nothing may be asked
	rights := unix.UnixRights(0)
	fd := (*int32)(unsafe.Pointer(&rights[unix.CmsgLen(0)]))
	data := [1]byte{}
	iov := unix.Iovec{Base: &data[0], Len: 1}
	msg := unix.Msghdr{Iov: &iov, Iovlen: 1, Control: &rights[0], Controllen: uint64(len(rights))}
	argv, env := os.Args[1:], os.Environ()
	const setFilter = 1 // SECCOMP_SET_MODE_FILTER
	got, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, setFilter, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, uintptr(unsafe.Pointer(fprog)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	*fd = int32(got)
	if _, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, watchSock, uintptr(unsafe.Pointer(&msg)), 0); errno != 0 {
		return fmt.Errorf("hand over the listener: %w", errno)
	}
	unix.CloseOnExec(int(got))
	unix.CloseOnExec(watchSock)
	return syscall.Exec(argv[0], argv, env)
}

// receiveFile takes a descriptor from a socket.
func receiveFile(sock int) (int, error) {
	b := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(sock, make([]byte, 1), b, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, err
	}
	list, err := unix.ParseSocketControlMessage(b[:n])
	if err != nil || len(list) == 0 {
		return 0, errors.Join(err, errors.New("the process did not get as far"))
	}
	fds, err := unix.ParseUnixRights(&list[0])
	if err != nil {
		return 0, err
	}
	return fds[0], nil
}

// Text is a string in the memory of a thread that waits for an answer, "" where there is none.
func Text(tid int, addr uint64) string {
	b := make([]byte, 4096)
	local := []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	page := uint64(os.Getpagesize())
	remote := []unix.RemoteIovec{{Base: uintptr(addr), Len: int(page - addr%page)}, {Base: uintptr(addr - addr%page + page), Len: int(addr % page)}}
	n, err := unix.ProcessVMReadv(tid, local, remote, 0)
	if err != nil || n == 0 {
		return ""
	}
	text, _, _ := strings.Cut(string(b[:n]), "\x00")
	return text
}
