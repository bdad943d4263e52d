package fence

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ErrStuck is the answer that did not come in time.
var ErrStuck = errors.New("no answer in time")

// GoneError is what is asked of a process that has ended.
type GoneError struct {
	Name string // of the process
	Err  error
}

func (e *GoneError) Error() string { return e.Name + ": " + e.Err.Error() }
func (e *GoneError) Unwrap() error { return e.Err }

// Process is a child of this program that answers questions. It may be asked by several
// goroutines at once.
type Process struct {
	name string
	cmd  *exec.Cmd
	conn conn
	over chan struct{} // closed when no more answers come
	done chan struct{} // closed when the process has been buried

	stop sync.Once

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan<- answer
	gone    error
}

type answer struct {
	message *message
	files   []*os.File
}

// socketFD is the child's end of the conversation.
const socketFD = 3

// Start starts this program again, under a name by which Serve knows it. It has the
// credentials of this moment until it gives them up, and none of the standard files: one that
// hangs for good would keep them open, and with them whoever reads what the recorder says.
func Start(name string) (*Process, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "helper")
	defer theirs.Close()
	for _, fd := range pair {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 4*maxMessage) // as far as the host lets
	}
	p := &Process{name: name, conn: conn{os.NewFile(uintptr(pair[0]), name)}, waiting: map[uint64]chan<- answer{}, over: make(chan struct{}), done: make(chan struct{}),
		cmd: &exec.Cmd{Path: "/proc/self/exe", Args: []string{name}, ExtraFiles: []*os.File{socketFD - 3: theirs}}}
	if err := p.cmd.Start(); err != nil {
		p.conn.sock.Close()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go p.listen()
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Pid is the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// listen hands answers to those who wait for them, until the process has ended.
func (p *Process) listen() {
	defer close(p.over)
	for b := make([]byte, maxMessage); ; {
		m, files, err := p.conn.receive(b)
		if err == nil && m.ID == 0 {
			err = errors.New(m.Err)
		} else if errors.Is(err, errGone) {
			err = p.epitaph()
		}
		p.mu.Lock()
		if err != nil {
			p.gone = err
			for _, c := range p.waiting {
				close(c)
			}
			clear(p.waiting)
			p.mu.Unlock()
			return
		}
		c := p.waiting[m.ID]
		delete(p.waiting, m.ID)
		p.mu.Unlock()
		if c == nil {
			closeAll(files) // whoever asked has lost patience
			continue
		}
		c <- answer{m, files}
	}
}

// Ask puts a question and waits for the answer, for no longer than patience: the error is
// then ErrStuck. The files that come with an answer are the caller's.
func (p *Process) Ask(patience time.Duration, do string, question, reply any, files ...*os.File) ([]*os.File, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	c := make(chan answer, 1)
	id, err := p.expect(c)
	if err != nil {
		return nil, err
	}
	if err := p.conn.send(&message{ID: id, Do: do}, question, files); err != nil {
		p.forget(id)
		return nil, &GoneError{p.name, err}
	}
	select {
	case a, ok := <-c:
		if !ok {
			return nil, &GoneError{p.name, p.why()}
		}
		if a.message.Err != "" {
			closeAll(a.files)
			return nil, errors.New(a.message.Err)
		}
		return a.files, json.Unmarshal(a.message.Body, reply)
	case <-timer.C:
		p.forget(id)
		return nil, ErrStuck
	}
}

// expect registers who waits for an answer.
func (p *Process) expect(c chan<- answer) (uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone != nil {
		return 0, &GoneError{p.name, p.gone}
	}
	p.next++
	p.waiting[p.next] = c
	return p.next, nil
}

// epitaph says how the process ended.
func (p *Process) epitaph() error {
	select {
	case <-p.done:
		return fmt.Errorf("%w: %v", errGone, p.cmd.ProcessState)
	case <-time.After(lastRespects):
		return errGone
	}
}

func (p *Process) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone
}

func (p *Process) forget(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, id)
}

// lastRespects is how long the end of a process is waited for.
const lastRespects = 200 * time.Millisecond

// Stop ends the process. One that hangs in the kernel is left to it.
func (p *Process) Stop() { p.stop.Do(p.end) }

func (p *Process) end() {
	_ = p.conn.with(func(sock int) error { return unix.Shutdown(sock, unix.SHUT_RDWR) })
	<-p.over
	select {
	case <-p.done:
	case <-time.After(lastRespects):
		_ = p.cmd.Process.Kill()
	}
	p.conn.sock.Close()
}
