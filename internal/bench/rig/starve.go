package rig

import (
	"os/exec"
	"runtime"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// starvedNice is the priority at which a recorder gets a tenth of a CPU that one busy program of
// ordinary priority shares (sched(7): weights 110 and 1024).
const starvedNice = 10

// StartStarved starts a recorder on a CPU that is taken, and waits for nothing. The function that it
// returns frees the CPU.
func StartStarved(bin, path string, args ...string) (*Recorder, func(), error) {
	var free atomic.Bool
	pinned := make(chan error)
	go spin(0, &free, pinned)
	if err := <-pinned; err != nil {
		return nil, nil, err
	}
	r, err := startBy(func(cmd *exec.Cmd) {
		wrapped := exec.Command("taskset", append([]string{"-c", "0", "nice", "-n", strconv.Itoa(starvedNice), cmd.Path}, cmd.Args[1:]...)...)
		cmd.Path, cmd.Args = wrapped.Path, wrapped.Args
	}, bin, path, args...)
	return r, func() { free.Store(true) }, err
}

// spin takes a CPU until it is to be freed.
func spin(cpu int, free *atomic.Bool, pinned chan<- error) {
	runtime.LockOSThread() // never unlocked: the thread ends with this
	var set unix.CPUSet
	set.Set(cpu)
	err := unix.SchedSetaffinity(0, &set)
	pinned <- err
	for err == nil && !free.Load() {
	}
}
