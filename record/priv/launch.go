package priv

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// stubName is the argv[0] by which the program knows that it is to wait and then
// become another one. It needs no variable in the environment, which must reach
// the command unchanged.
const stubName = "netrec: waiting to run"

// Descriptors of the stub; the command gets neither, nor any other that the
// program inherited under these numbers.
const (
	gateFD   = 3 // one byte: go; end of file: the recorder is gone
	statusFD = 4 // the errno of an exec that was refused; closed by one that was not
)

// Exit codes of a shell.
const (
	exitCannotRun = 126
	exitSignal    = 128 // plus the number of the signal
)

// Init must be the first call in main. In a process made by Start it does not
// return; in any other it does nothing.
func Init() {
	if len(os.Args) < 3 || os.Args[0] != stubName {
		return
	}
	os.Exit(stub(os.Args[1], os.Args[2:]))
}

// stub waits for the gate and becomes the command.
func stub(path string, argv []string) int {
	unix.CloseOnExec(gateFD)
	unix.CloseOnExec(statusFD)
	var b [1]byte
	if n, err := os.NewFile(gateFD, "gate").Read(b[:]); n != 1 || err != nil {
		return exitCannotRun
	}
	err := syscall.Exec(path, argv, os.Environ())
	var errno syscall.Errno
	errors.As(err, &errno)
	fmt.Fprint(os.NewFile(statusFD, "status"), int(errno))
	return exitCannotRun
}

// Child is a command that has been started but runs only when released.
type Child struct {
	cmd    *exec.Cmd
	name   string
	gate   *os.File
	status *os.File
}

// Start prepares a command: a process with its final pid, the present credentials,
// environment, directory and standard files, which waits for Release. It should be
// called before limits or credentials are changed. If this process ends without
// Release, the command never runs.
func Start(argv []string) (*Child, error) {
	if len(argv) == 0 {
		return nil, errors.New("start command: no command given")
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, fmt.Errorf("start command: %w", err)
	}
	gateR, gateW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start command: %w", err)
	}
	defer gateR.Close()
	statusR, statusW, err := os.Pipe()
	if err != nil {
		gateW.Close()
		return nil, fmt.Errorf("start command: %w", err)
	}
	defer statusW.Close()
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: append([]string{stubName, path}, argv...),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		ExtraFiles: []*os.File{gateFD - 3: gateR, statusFD - 3: statusW},
	}
	if err := cmd.Start(); err != nil {
		gateW.Close()
		statusR.Close()
		return nil, fmt.Errorf("start command %s: %w", argv[0], err)
	}
	return &Child{cmd: cmd, name: argv[0], gate: gateW, status: statusR}, nil
}

// Pid is the process id of the command, before and after Release.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Release lets the command run. An error says why it could not.
func (c *Child) Release() error {
	defer c.status.Close()
	_, err := c.gate.Write([]byte{1})
	c.gate.Close()
	if err != nil {
		return fmt.Errorf("run %s: %w", c.name, err)
	}
	b, err := io.ReadAll(io.LimitReader(c.status, 16))
	if err != nil {
		return fmt.Errorf("run %s: %w", c.name, err)
	}
	if len(b) > 0 {
		n, _ := strconv.Atoi(string(b))
		return fmt.Errorf("run %s: %w", c.name, syscall.Errno(n))
	}
	return nil
}

// Cancel ends a command that was not released, and does nothing to one that was.
func (c *Child) Cancel() {
	c.gate.Close()
	c.status.Close()
}

// Signal sends a signal to the command. After Drop this needs CAP_KILL unless the
// command runs as the same user.
func (c *Child) Signal(s os.Signal) error { return c.cmd.Process.Signal(s) }

// Wait waits for the end of the command and returns its exit code, 128 and the
// signal's number if a signal ended it, as shells do.
func (c *Child) Wait() (int, error) {
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("wait for %s: %w", c.name, err)
	}
	ws := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return exitSignal + int(ws.Signal()), nil
	}
	return ws.ExitStatus(), nil
}
