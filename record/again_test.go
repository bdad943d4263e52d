package record_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOneRowPerEvent changes the state of sockets on two CPUs at once, by threads whose numbers end alike:
// the second program of an event must not take what the first has taken.
func TestOneRowPerEvent(t *testing.T) {
	b := newBench(t, "two threads that do the same at the same time")
	if runtime.NumCPU() < 2 {
		t.Skip("one CPU: nothing happens at the same time")
	}
	path := filepath.Join(t.TempDir(), "cap.parquet")
	rec, err := b.ns.Record(b.bin, path, "-e", "tcp_state", "--buffer", "64M")
	must(t, err)
	must(t, rec.Ready())
	const turns = 40_009
	var socks [2]int
	must(t, b.ns.Do(func() (err error) {
		for i := range socks {
			if socks[i], err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
				return err
			}
		}
		return nil
	}))
	errs := make(chan error)
	for cpu, run := range twins() {
		run <- func() {
			var set unix.CPUSet
			set.Set(cpu)
			err := unix.SchedSetaffinity(0, &set)
			for i := 0; i < turns && err == nil; i++ {
				err = errors.Join(unix.Listen(socks[cpu], 1), unix.Shutdown(socks[cpu], unix.SHUT_RDWR)) // to LISTEN and back to CLOSE
			}
			errs <- err
		}
	}
	must(t, errors.Join(<-errs, <-errs))
	_, _, err = rec.End(syscall.SIGINT)
	must(t, err)
	for _, fd := range socks {
		must(t, unix.Close(fd))
	}
	got := read(t, path)
	if n, want := got.count()+got.missing(), int64(4*turns); n != want {
		t.Errorf("%d changes of state have %d rows, %d of them lost", want, n, got.missing())
	}
}

// twins starts two threads whose numbers have the same last byte, and which do what they are sent.
func twins() [2]chan<- func() {
	type thread struct {
		tid int
		run chan func()
	}
	started, known := make(chan thread), map[int]thread{}
	for {
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with this
			run := make(chan func())
			started <- thread{unix.Gettid(), run}
			for f := range run {
				f()
			}
		}()
		one := <-started
		two, found := known[one.tid%256]
		if !found {
			known[one.tid%256] = one
			continue
		}
		for _, other := range known {
			if other != two {
				close(other.run)
			}
		}
		return [2]chan<- func(){one.run, two.run}
	}
}
