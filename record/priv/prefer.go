package priv

import (
	"errors"
	"fmt"
	"unsafe"

	"kernel.org/pub/linux/libs/security/libcap/psx"

	"golang.org/x/sys/unix"
)

// preferred is the nice value of a recorder.
const preferred = -5

// Prefer lets all threads run before those of usual priority. On a host without a free CPU, a
// recorder that gets the share of any other process loses events. It takes no more CPU time for
// it. Whoever started the recorder with a nice value of their own has decided already.
func Prefer() error {
	nice, err := niceness()
	if err != nil || nice != 0 {
		return err
	}
	value := preferred
	_, _, errno := psx.Syscall3(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, uintptr(value))
	if errno != 0 && !errors.Is(errno, unix.EACCES) { // without CAP_SYS_NICE it stays as it is
		return fmt.Errorf("set priority: %w", errno)
	}
	return nil
}

// Share makes all threads share the CPUs with others where the recorder was started with a real-time
// policy, and reports whether it was. What attaching waits for in the kernel runs as ordinary tasks;
// threads that go before those wait for it for ever, on every CPU they take.
func Share() (bool, error) {
	policy, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return false, fmt.Errorf("ask for scheduling policy: %w", err)
	}
	if policy.Policy != unix.SCHED_FIFO && policy.Policy != unix.SCHED_RR {
		return false, nil
	}
	var priority int32
	_, _, errno := psx.Syscall3(unix.SYS_SCHED_SETSCHEDULER, 0, unix.SCHED_NORMAL, uintptr(unsafe.Pointer(&priority)))
	if errno != 0 {
		return false, fmt.Errorf("leave the real-time policy: %w", errno)
	}
	return true, nil
}

// niceness is the nice value of the calling thread. The system call returns 20 less it.
func niceness() (int, error) {
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return 0, fmt.Errorf("ask for priority: %w", err)
	}
	return 20 - n, nil
}
