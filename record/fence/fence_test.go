package fence_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netrec/record/fence"
	"netrec/record/priv"
)

const (
	plainName   = "netrec test: plain"
	readingName = "netrec test: reading"
	denyName    = "netrec test: deny"
	uselessName = "netrec test: useless"
)

func TestMain(m *testing.M) {
	fence.Serve(plainName, func() (map[string]fence.Handler, error) { return handlers, nil })
	fence.Serve(readingName, func() (map[string]fence.Handler, error) {
		return handlers, errors.Join(priv.Drop(), fence.Allow(fence.Reading))
	})
	fence.Serve(denyName, func() (map[string]fence.Handler, error) { return handlers, errors.Join(priv.Drop(), fence.Deny()) })
	fence.Serve(uselessName, func() (map[string]fence.Handler, error) { return nil, errors.New("not today") })
	os.Exit(m.Run())
}

// handlers are what the children of this test can be asked.
var handlers = map[string]fence.Handler{
	"echo": func(q json.RawMessage, files []*os.File) (any, []*os.File, error) {
		var out []*os.File
		for _, f := range files {
			b, err := io.ReadAll(f)
			if err != nil {
				return nil, nil, err
			}
			q, _ = json.Marshal(string(b))
			fd, err := unix.Dup(int(f.Fd()))
			if err != nil {
				return nil, nil, err
			}
			out = append(out, os.NewFile(uintptr(fd), "back"))
		}
		return q, out, nil
	},
	"hang":  func(json.RawMessage, []*os.File) (any, []*os.File, error) { select {} },
	"panic": func(json.RawMessage, []*os.File) (any, []*os.File, error) { panic("tripped") },
	"die":   func(json.RawMessage, []*os.File) (any, []*os.File, error) { os.Exit(7); return nil, nil, nil },
	"long": func(json.RawMessage, []*os.File) (any, []*os.File, error) {
		return strings.Repeat("x", 1<<20), nil, nil
	},
	"try": try,
}

func start(t *testing.T, name string) *fence.Process {
	t.Helper()
	p, err := fence.Start(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

const patience = 20 * time.Second // more than a busy machine takes

// One question that hangs, trips or asks too much costs its own answer only.
func TestAsk(t *testing.T) {
	p := start(t, plainName)
	if _, err := p.Ask(time.Millisecond, "hang", nil, nil); !errors.Is(err, fence.ErrStuck) {
		t.Errorf("asked what has no answer: %v", err)
	}
	for _, do := range []string{"panic", "long", "no such thing"} {
		if _, err := p.Ask(patience, do, nil, nil); err == nil {
			t.Errorf("%s: no error", do)
		}
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("<of & ours>"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got string
	files, err := p.Ask(patience, "echo", "", &got, f)
	if err != nil || got != "<of & ours>" || len(files) != 1 {
		t.Fatalf("a file of ours: %q, %d files, %v", got, len(files), err)
	}
	if st, err := files[0].Stat(); err != nil || st.Size() != int64(len(got)) {
		t.Errorf("the file that came back: %v, %v", st, err)
	}
	files[0].Close()
}

// A process that has ended is an error of its own for everyone who asks, then and later.
func TestGone(t *testing.T) {
	p := start(t, plainName)
	waits := make(chan error, 1)
	go func() {
		_, err := p.Ask(patience, "hang", nil, nil)
		waits <- err
	}()
	if _, err := p.Ask(patience, "echo", nil, new(any)); err != nil {
		t.Fatal(err)
	}
	for _, do := range []string{"die", "echo"} {
		var gone *fence.GoneError
		if _, err := p.Ask(patience, do, nil, nil); !errors.As(err, &gone) || gone.Name != plainName {
			t.Errorf("%s: %v", do, err)
		}
	}
	if err := <-waits; err == nil || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("who waited for it heard: %v", err)
	}
}

func TestNotReady(t *testing.T) {
	var gone *fence.GoneError
	if _, err := start(t, uselessName).Ask(patience, "echo", nil, nil); !errors.As(err, &gone) || !strings.Contains(err.Error(), "not today") {
		t.Errorf("asked of a process that could not make ready: %v", err)
	}
}

// attempts are what a fenced process may try, by name; each returns its error.
var attempts = map[string]func(dir string) error{
	"read":    func(string) error { _, err := os.ReadFile("/proc/self/status"); return err },
	"threads": func(string) error { return threads() },
	"write":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "out"), []byte("x"), 0o666) },
	"openat2": func(dir string) error {
		fd, err := unix.Openat2(unix.AT_FDCWD, filepath.Join(dir, "there"), &unix.OpenHow{Flags: unix.O_WRONLY | unix.O_APPEND})
		if err != nil {
			return nil // not what is tried here
		}
		_, err = unix.Write(fd, []byte("written"))
		return err
	},
	"mkdir":   func(dir string) error { return os.Mkdir(filepath.Join(dir, "new"), 0o777) },
	"unlink":  func(dir string) error { return os.Remove(filepath.Join(dir, "there")) },
	"exec":    func(string) error { return syscall.Exec("/proc/self/exe", []string{"no such child"}, nil) },
	"process": func(string) error { return exec.Command("/bin/true").Run() },
	"ptrace":  func(string) error { return unix.PtraceAttach(os.Getppid()) },
	"vm": func(string) error {
		_, err := unix.ProcessVMReadv(os.Getpid(), nil, nil, 0)
		return err
	},
	"inet":    func(string) error { return socket(unix.AF_INET) },
	"inet6":   func(string) error { return socket(unix.AF_INET6) },
	"unix":    func(string) error { return socket(unix.AF_UNIX) },
	"netlink": func(string) error { return socket(unix.AF_NETLINK) },
	"keys": func(string) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		return err
	},
	"unshare": func(string) error { return unix.Unshare(unix.CLONE_NEWUSER) },
}

func socket(family int) error {
	fd, err := unix.Socket(family, unix.SOCK_DGRAM, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// threads lets Go's runtime start some: a pipe that nobody writes to holds each.
func threads() error {
	done := make(chan error)
	for range 8 {
		go func() {
			var p [2]int
			err := unix.Pipe2(p[:], unix.O_CLOEXEC)
			if errors.Is(err, unix.EPERM) {
				err = nil // not what is tried here
			}
			time.Sleep(time.Millisecond)
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			return err
		}
	}
	return nil
}

type attempt struct{ What, Dir string }

func try(q json.RawMessage, _ []*os.File) (any, []*os.File, error) {
	var a attempt
	if err := json.Unmarshal(q, &a); err != nil {
		return nil, nil, err
	}
	if err := attempts[a.What](a.Dir); err != nil {
		return err.Error(), nil, nil
	}
	return "", nil, nil
}

// What is fenced can do its work and nothing beside it; the same process without a fence can.
func TestFences(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: left out: what a process may not do though its user might")
	}
	dir := t.TempDir()
	for d := dir; d != "/tmp" && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	there := filepath.Join(dir, "there")
	for name, may := range map[string]string{readingName: "read threads", denyName: "read threads write openat2 mkdir unlink unix netlink"} {
		if err := os.WriteFile(there, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		os.Chmod(there, 0o666)
		p := start(t, name)
		for what := range attempts {
			var got string
			if _, err := p.Ask(patience, "try", attempt{what, dir}, &got); err != nil {
				t.Fatalf("%s: %s: %v", name, what, err)
			}
			ok, wanted := got == "", slices.Contains(strings.Fields(may), what)
			if ok != wanted || !ok && !strings.Contains(got, unix.EPERM.Error()) {
				t.Errorf("%s: %s: %q", name, what, got)
			}
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
		for _, want := range []string{"Seccomp:\t2\n", "NoNewPrivs:\t1\n", "CapEff:\t0000000000000000\n"} {
			if err != nil || !strings.Contains(string(status), want) {
				t.Errorf("%s: its status lacks %q: %v", name, want, err)
			}
		}
		if b, _ := os.ReadFile(there); name == readingName && len(b) > 0 {
			t.Errorf("%s wrote %q", name, b)
		}
		os.Remove(filepath.Join(dir, "out"))
		os.Remove(filepath.Join(dir, "new"))
	}
}
