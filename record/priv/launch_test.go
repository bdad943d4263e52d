package priv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// sh starts a shell command that is held.
func sh(t *testing.T, script string) *Child {
	t.Helper()
	c, err := Start([]string{"sh", "-c", script})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCommandRunsOnlyWhenReleased(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	t.Setenv("PRIV_TEST_VALUE", "handed on")
	c := sh(t, `echo "$$ $PRIV_TEST_VALUE $(id -u) $(ls /proc/self/fd | tr '\n' ' ')" >`+out+`; exit 23`)
	// The stub is seen waiting: it has not become the shell.
	if args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", c.Pid())); err != nil || strings.HasPrefix(string(args), "sh\x00") {
		t.Errorf("before Release the process runs %q, %v", args, err)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Fatalf("the command ran before Release: %v", err)
	}
	if err := c.Release(); err != nil {
		t.Fatal(err)
	}
	if code, err := c.Wait(); err != nil || code != 23 {
		t.Errorf("exit code %d, %v; want 23", code, err)
	}
	b, _ := os.ReadFile(out)
	f := strings.Fields(string(b))
	if len(f) < 5 || f[0] != fmt.Sprint(c.Pid()) || f[1]+" "+f[2] != "handed on" || f[3] != fmt.Sprint(os.Getuid()) {
		t.Errorf("the command saw %q", b)
	}
}

func TestExitBySignal(t *testing.T) {
	c := sh(t, "kill -TERM $$")
	if err := c.Release(); err != nil {
		t.Fatal(err)
	}
	if code, err := c.Wait(); err != nil || code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit code %d, %v; want 143", code, err)
	}
}

func TestSignal(t *testing.T) {
	c := sh(t, "exec sleep 600")
	if err := c.Release(); err != nil {
		t.Fatal(err)
	}
	if err := c.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code, err := c.Wait(); err != nil || code != 137 {
		t.Errorf("exit code %d, %v; want 137", code, err)
	}
}

func TestCommandThatCannotRun(t *testing.T) {
	for _, argv := range [][]string{nil, {"/no/such/program"}, {"no-such-program-in-path"}, {"/etc/passwd"}} {
		if c, err := Start(argv); err == nil {
			c.Cancel()
			t.Errorf("Start(%q) gave no error", argv)
		}
	}
	// Found and executable, yet nothing the kernel can run.
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("\x7fELF nonsense"), 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := Start([]string{bad})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Release(); err == nil || !strings.Contains(err.Error(), "exec format") {
		t.Errorf("Release: %v, want exec format error", err)
	}
	if code, _ := c.Wait(); code != exitCannotRun {
		t.Errorf("exit code %d, want %d", code, exitCannotRun)
	}
}

func TestCancel(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	c := sh(t, "touch "+out)
	c.Cancel()
	if code, err := c.Wait(); err != nil || code != exitCannotRun {
		t.Errorf("exit code %d, %v", code, err)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("the command ran: %v", err)
	}
}

// abandon starts a command and dies as a killed recorder does.
func abandon() {
	c, err := Start([]string{"sh", "-c", "touch " + os.Getenv("PRIV_TEST_OUT")})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(c.Pid())
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

func TestStubEndsWithTheRecorder(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"=abandon", "PRIV_TEST_OUT="+out)
	// The stub inherits standard output: it ends when the last holder has ended.
	b, err := cmd.Output()
	if cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("child: %v, %q", err, b)
	}
	var pid int
	if _, err := fmt.Sscan(string(b), &pid); err != nil {
		t.Fatal(err)
	}
	if status, err := readStatus(fmt.Sprintf("/proc/%d/status", pid)); err == nil && !strings.HasPrefix(status["State"], "Z") {
		t.Errorf("stub %d still there: %s", pid, status["State"])
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("the command ran: %v", err)
	}
}
