package rig

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"netrec/record/demo"
)

// Namespace is a network namespace with nothing but a loopback device, which lives as
// long as its holder.
type Namespace struct {
	holder *exec.Cmd
	file   *os.File // to enter it by
	do     chan func()
}

// New makes a namespace. It needs root.
func New() (*Namespace, error) {
	n := &Namespace{do: make(chan func())}
	ready := make(chan error)
	go n.run(ready)
	if err := <-ready; err != nil {
		return nil, err
	}
	return n, nil
}

// run is the thread inside; it ends with its namespace and is never used again.
func (n *Namespace) run(ready chan<- error) {
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		ready <- fmt.Errorf("make a network namespace: %w", err)
		return
	}
	if err := demo.Up(); err != nil {
		ready <- err
		return
	}
	// Processes are what the recorder finds namespaces by; threads it does not see.
	n.holder = exec.Command("sleep", "infinity")
	n.holder.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := n.holder.Start(); err != nil {
		ready <- fmt.Errorf("hold the namespace: %w", err)
		return
	}
	var err error
	n.file, err = os.Open("/proc/thread-self/ns/net")
	ready <- err
	for f := range n.do {
		f()
	}
	n.file.Close()
	_ = n.holder.Process.Kill()
	_ = n.holder.Wait()
}

// Name is what netrec record --netns wants.
func (n *Namespace) Name() string { return strconv.Itoa(n.holder.Process.Pid) }

// Do runs f inside. Sockets and processes made there belong to the namespace for
// good, whoever uses them.
func (n *Namespace) Do(f func() error) error {
	err := make(chan error)
	n.do <- func() { err <- f() }
	return <-err
}

// Close lets the namespace go.
func (n *Namespace) Close() { close(n.do) }
