package rig

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Build compiles a command of this module into dir and returns its path.
func Build(dir, command string) (string, error) {
	bin := filepath.Join(dir, filepath.Base(command))
	cmd := exec.Command("go", "build", "-o", bin, "netrec/"+command)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", command, err, out)
	}
	return bin, nil
}

// Recorder is netrec record as a process.
type Recorder struct {
	Path   string // of the recording
	cmd    *exec.Cmd
	said   bytes.Buffer
	exited chan error
}

// startWithin is how long a recorder may take to attach its hooks; hosts under load
// need seconds, emulated ones with every event a minute, or many beside other work.
const startWithin = 10 * time.Minute

// Record starts a recorder of the namespace and returns once every hook is attached.
func (n *Namespace) Record(bin, path string, args ...string) (*Recorder, error) {
	return Record(bin, path, append([]string{"--netns", n.Name()}, args...)...)
}

// Record starts a recorder of the whole machine: for guests.
func Record(bin, path string, args ...string) (*Recorder, error) {
	ready := path + ".ready"
	defer os.Remove(ready)
	r := &Recorder{Path: path, exited: make(chan error, 1)}
	r.cmd = exec.Command(bin, append([]string{"record", "-o", path, "--ready-file", ready}, args...)...)
	r.cmd.Stdout, r.cmd.Stderr = &r.said, &r.said
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start recorder: %w", err)
	}
	go func() { r.exited <- r.cmd.Wait() }()
	for deadline := time.Now().Add(startWithin); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if _, err := os.Stat(ready); err == nil {
			return r, nil
		}
		select {
		case err := <-r.exited:
			r.exited <- err // short recordings end before they are looked at
			if _, err := os.Stat(ready); err == nil {
				return r, nil
			}
			return nil, fmt.Errorf("recorder ended before it was ready: %v\n%s", err, r.said.String())
		default:
		}
	}
	_, _, _ = r.End(syscall.SIGKILL)
	return nil, fmt.Errorf("recorder not ready within %s\n%s", startWithin, r.said.String())
}

// Signal sends a signal to the recorder and returns the time just before.
func (r *Recorder) Signal(s syscall.Signal) (int64, error) {
	now := Now()
	if err := r.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return now, fmt.Errorf("send %s to the recorder: %w", s, err)
	}
	return now, nil
}

// End sends a signal, waits, and returns the time just before the signal and the exit
// code, -1 if the signal killed it.
func (r *Recorder) End(s syscall.Signal) (int64, int, error) {
	at, err := r.Signal(s)
	return at, r.Wait(), err
}

// Wait returns the exit code once the recorder has ended.
func (r *Recorder) Wait() int {
	<-r.exited
	return r.cmd.ProcessState.ExitCode()
}

// Said is what the recorder wrote; to be asked once it has ended.
func (r *Recorder) Said() string { return r.said.String() }
