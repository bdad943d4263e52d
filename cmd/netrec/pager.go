package main

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
)

// pager shows what is written to it on a terminal, page by page. It starts with the first byte: until
// then the terminal shows how far the scan is.
type pager struct {
	command string
	tty     *os.File
	start   sync.Once
	cmd     *exec.Cmd // nil before the first byte, and where none could be started
	pipe    io.WriteCloser
}

// errPagerLeft is what writers get once the reader has left: no mistake of anybody.
var errPagerLeft = errors.New("the pager has ended")

// newPager is the pager of a writer: nil unless that is a terminal and a pager is wanted.
func newPager(out io.Writer) *pager {
	f, ok := out.(*os.File)
	if !ok || !terminal(f) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	command, set := os.LookupEnv("NETREC_PAGER")
	if !set {
		command = cmp.Or(os.Getenv("PAGER"), "less")
	}
	words := strings.Fields(command)
	if len(words) == 0 || words[0] == "cat" {
		return nil
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil
	}
	return &pager{command: command, tty: f}
}

// Write hands bytes to the pager. Where it cannot be started, the terminal gets them.
func (p *pager) Write(b []byte) (int, error) {
	p.start.Do(p.begin)
	if p.cmd == nil {
		return p.tty.Write(b)
	}
	n, err := p.pipe.Write(b)
	if err != nil {
		err = errPagerLeft
	}
	return n, err
}

func (p *pager) begin() {
	cmd := exec.Command("sh", "-c", p.command)
	cmd.Stdout, cmd.Stderr, cmd.Env = p.tty, os.Stderr, pagerEnv()
	pipe, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	p.cmd, p.pipe = cmd, pipe
	// An interrupt ends the text, not the pager: whoever reads on has the terminal.
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	go func() {
		for range interrupted {
			_ = pipe.Close()
		}
	}()
}

// begun reports whether the pager has the terminal.
func (p *pager) begun() bool { return p.cmd != nil }

// pagerEnv is git's choice for less: leave at once if all fits, keep colours and the screen. With
// sudo, less must not be a way to a shell.
func pagerEnv() []string {
	env := os.Environ()
	if os.Getenv("LESS") == "" {
		env = append(env, "LESS=FRX")
	}
	if os.Geteuid() == 0 && os.Getenv("SUDO_UID") != "" {
		env = append(env, "LESSSECURE=1")
	}
	return env
}

// close waits until the reader has left.
func (p *pager) close() {
	if p.begun() {
		_ = p.pipe.Close()
		_ = p.cmd.Wait() // its code is its own business
	}
}

// aside is what goes beside an answer: through the pager while that has the terminal.
type aside struct {
	p    *pager
	side io.Writer
}

func (a aside) Write(b []byte) (int, error) {
	if f, ok := a.side.(*os.File); ok && a.p.begun() && terminal(f) {
		return a.p.Write(b)
	}
	return a.side.Write(b)
}

// paged lets f write to a terminal through a pager, and elsewhere as it is.
func paged(wanted bool, out, side io.Writer, f func(out, side io.Writer) error) error {
	p := newPager(out)
	if !wanted || p == nil {
		return f(out, side)
	}
	err := f(p, aside{p, side})
	p.close()
	if errors.Is(err, errPagerLeft) {
		return nil
	}
	return err
}
