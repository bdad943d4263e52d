package rig

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Call is one system call of the load, as the caller saw it.
type Call struct {
	Ret    int64 // as the kernel returned it, -errno included
	Before int64 // CLOCK_MONOTONIC, ns
	After  int64
}

// Key finds the rows of one kind of call of one thread.
type Key struct {
	Event string
	Tid   int
	Dir   string // send or recv, for sock_io
}

// Side is every call of one kind that one thread made, in order.
type Side struct {
	Key
	CPU   int
	Lport int // of the socket, where it is one for all calls
	Rport int
	Calls []Call
}

// thread runs a loop of calls on a pinned thread of its own.
type thread struct {
	tid, cpu int
	sides    []*Side
}

// comm is the name of every thread of the load.
const comm = "netrec-load"

// start runs f on a new thread and returns once it is pinned.
func start(ns *Namespace, cpu int, done chan<- error, f func(*thread) error) (*thread, error) {
	t := &thread{cpu: cpu}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the load
		t.tid = unix.Gettid()
		if err := t.settle(ns); err != nil {
			ready <- err
			return
		}
		ready <- nil
		done <- f(t)
	}()
	return t, <-ready
}

// settle enters the namespace, pins the thread and blocks the signals that may come at
// any time, from the Go runtime and from children that stop or end: they would interrupt
// blocking calls, and the kernel would show each of those twice.
func (t *thread) settle(ns *Namespace) error {
	if err := unix.Setns(int(ns.file.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the namespace: %w", err)
	}
	var set unix.CPUSet
	set.Set(t.cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin load to CPU %d: %w", t.cpu, err)
	}
	var block unix.Sigset_t
	block.Val[0] = 1<<(unix.SIGURG-1) | 1<<(unix.SIGCHLD-1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &block, nil); err != nil {
		return fmt.Errorf("block signals: %w", err)
	}
	if err := os.WriteFile("/proc/thread-self/comm", []byte(comm), 0); err != nil {
		return fmt.Errorf("name a thread: %w", err)
	}
	return nil
}

// side adds a log to a thread.
func (t *thread) side(event, dir string, lport, rport int) *Side {
	s := &Side{Key: Key{event, t.tid, dir}, CPU: t.cpu, Lport: lport, Rport: rport, Calls: make([]Call, 0, 1<<16)}
	t.sides = append(t.sides, s)
	return s
}

// call makes and logs one system call.
func (s *Side) call(f func() (int, error)) (int, error) {
	before := Now()
	n, err := f()
	ret := int64(n)
	if errno, ok := err.(unix.Errno); ok {
		ret = -int64(errno)
	}
	s.Calls = append(s.Calls, Call{ret, before, Now()})
	if err != nil {
		return n, fmt.Errorf("call %d of %v: %w", len(s.Calls), s.Key, err)
	}
	return n, nil
}

// Now is the clock of the events.
func Now() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return ts.Nano()
}
