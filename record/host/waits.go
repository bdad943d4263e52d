package host

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"netrec/schema"
)

// maxThreads bounds the threads that are asked what they wait for.
const maxThreads = 65_536

// waitingCalls are the system calls in which a thread waits for a socket to give it something.
var waitingCalls = map[string]bool{}

func init() {
	for _, nr := range []int{unix.SYS_READ, unix.SYS_READV, unix.SYS_RECVFROM, unix.SYS_RECVMSG, unix.SYS_RECVMMSG, unix.SYS_ACCEPT, unix.SYS_ACCEPT4} {
		waitingCalls[strconv.Itoa(nr)] = true
	}
}

// waits counts the threads that wait in a call on a socket at this moment. Hooks at the start
// of functions never see those calls.
func waits(byInode map[uint32][]schema.Owner) {
	fds := map[int]map[int]*schema.Owner{}
	for _, owners := range byInode {
		for i := range owners {
			o := &owners[i]
			if fds[o.Pid] == nil {
				fds[o.Pid] = map[int]*schema.Owner{}
			}
			fds[o.Pid][o.FD] = o
		}
	}
	threads := 0
	for pid, of := range fds {
		dir := "/proc/" + strconv.Itoa(pid) + "/task"
		tasks, err := os.ReadDir(dir)
		if threads += len(tasks); err != nil || threads > maxThreads {
			continue
		}
		for _, t := range tasks {
			if fd, ok := waitsOn(firstLine(dir + "/" + t.Name() + "/syscall")); ok && of[fd] != nil {
				of[fd].Waits++
			}
		}
	}
}

// waitsOn reads a thread's system call, 45 0x5 0x7ffe…, for the descriptor that it waits on.
func waitsOn(line string) (fd int, ok bool) {
	f := strings.Fields(line)
	if len(f) < 2 || !waitingCalls[f[0]] {
		return 0, false
	}
	n, err := strconv.ParseUint(f[1], 0, 64)
	return int(int32(n)), err == nil
}
