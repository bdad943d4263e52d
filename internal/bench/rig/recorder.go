package rig

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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
	begun  bool
}

// How long a recorder may take to attach its hooks. Emulated hosts under load take minutes;
// as long as it works, waiting is right. One that does nothing waits for something that will
// not come.
const (
	startWithin = 20 * time.Minute
	stallWithin = 2 * time.Minute
	lookEvery   = 10 * time.Millisecond // a look takes an emulated CPU a third of a millisecond
)

// Record starts a recorder of the namespace and returns once every hook is attached.
func (n *Namespace) Record(bin, path string, args ...string) (*Recorder, error) {
	return Record(bin, path, append([]string{"--netns", n.Name()}, args...)...)
}

// Record starts a recorder of the whole machine, for guests, and returns once every hook is
// attached.
func Record(bin, path string, args ...string) (*Recorder, error) {
	r, err := Start(bin, path, args...)
	if err != nil {
		return nil, err
	}
	if err := r.Ready(); err != nil {
		return nil, err
	}
	return r, nil
}

// GuestEnv is set in an emulated guest, to the name of its kernel.
const GuestEnv = "NETREC_GUEST"

// patient is for recorders in guests: a commit takes an emulated CPU half a second, so with the
// usual pace it would have little time for anything else, and attaching hooks takes minutes.
var patient = []string{"--commit", "8s", "--start-within", startWithin.String()}

// Start starts a recorder and waits for nothing.
func Start(bin, path string, args ...string) (*Recorder, error) {
	return startBy(func(*exec.Cmd) {}, bin, path, args...)
}

// startBy is Start with a change to the command.
func startBy(change func(*exec.Cmd), bin, path string, args ...string) (*Recorder, error) {
	r := &Recorder{Path: path, exited: make(chan error, 1)}
	own := []string{"record", "-o", path, "--ready-file", r.readyFile()}
	if os.Getenv(GuestEnv) != "" {
		own = append(own, patient...)
	}
	r.cmd = exec.Command(bin, append(own, args...)...)
	r.cmd.Stdout, r.cmd.Stderr = &r.said, &r.said
	change(r.cmd)
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start recorder: %w", err)
	}
	go func() { r.exited <- r.cmd.Wait() }()
	return r, nil
}

func (r *Recorder) readyFile() string { return r.Path + ".ready" }

// Ready returns once every hook is attached. The error has what the recorder said, and what
// it was doing where it did not end by itself.
func (r *Recorder) Ready() error {
	begin := time.Now()
	moved, used := begin, int64(-1)
	for ; ; time.Sleep(lookEvery) {
		if r.isReady() {
			return nil
		}
		select {
		case err := <-r.exited:
			r.exited <- err // short recordings end before they are looked at
			if r.isReady() {
				return nil
			}
			return fmt.Errorf("the recorder did not begin, it ended after %s: %v\n%s", time.Since(begin).Round(time.Millisecond), err, r.said.String())
		default:
		}
		now := time.Now()
		if cpu, err := r.cpuTicks(); err == nil && cpu != used {
			moved, used = now, cpu
		}
		if idle := now.Sub(moved); idle > stallWithin || now.Sub(begin) > startWithin {
			_, _, _ = r.End(syscall.SIGQUIT) // Go's runtime then says where every goroutine is
			return fmt.Errorf("the recorder did not begin within %s, after %d ticks of CPU and %s without any; it was waiting here:\n%s",
				now.Sub(begin).Round(time.Second), used, idle.Round(time.Second), r.said.String())
		}
	}
}

// isReady reports that the recorder has begun, and removes its sign.
func (r *Recorder) isReady() bool {
	if _, err := os.Stat(r.readyFile()); err == nil {
		os.Remove(r.readyFile())
		r.begun = true
	}
	return r.begun
}

// cpuTicks is the CPU time of the recorder so far, in ticks of the kernel's clock.
func (r *Recorder) cpuTicks() (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may hold anything; utime and stime are 12 and 13 fields behind it.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 13 {
		return 0, fmt.Errorf("process %d: %d fields", r.cmd.Process.Pid, len(f))
	}
	user, err := strconv.ParseInt(f[11], 10, 64)
	system, err2 := strconv.ParseInt(f[12], 10, 64)
	return user + system, errors.Join(err, err2)
}

// Resident is how much memory the recorder has in use, in bytes.
func (r *Recorder) Resident() (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", r.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0, fmt.Errorf("process %d: no memory", r.cmd.Process.Pid)
	}
	pages, err := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// Descriptors is how many files the recorder has open.
func (r *Recorder) Descriptors() (int, error) {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.cmd.Process.Pid))
	return len(list), err
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
	r.exited <- <-r.exited // who asks again hears the same
	return r.cmd.ProcessState.ExitCode()
}

// Used is the CPU time of the recorder; to be asked once it has ended.
func (r *Recorder) Used() time.Duration {
	return r.cmd.ProcessState.UserTime() + r.cmd.ProcessState.SystemTime()
}

// Memory is the most memory that the recorder had resident, in bytes; to be asked once it has ended.
func (r *Recorder) Memory() int64 {
	usage, _ := r.cmd.ProcessState.SysUsage().(*syscall.Rusage) // on Linux it is
	return usage.Maxrss << 10
}

// Said is what the recorder wrote; to be asked once it has ended.
func (r *Recorder) Said() string { return r.said.String() }
