package symbol

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// program compiles C source, or skips where there is no compiler.
func program(t *testing.T, source string, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "prog.c"), filepath.Join(dir, "prog")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, append(flags, "-O0", "-o", bin, src)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

const source = `
#include <stdio.h>
#include <unistd.h>
int exported(int x) { return x + 1; }
static int hidden(int x) { return x + 2; }
int main(void) {
	printf("%lx %lx %lx\n", (long)exported, (long)hidden, (long)getpid);
	fflush(stdout);
	return exported(hidden(getchar()));
}
`

// start runs a program that prints addresses on one line and then waits.
func start(t *testing.T, bin string) (int32, []uint64) {
	t.Helper()
	cmd := exec.Command(bin)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var addrs []uint64
	for _, f := range strings.Fields(line) {
		a, err := strconv.ParseUint(f, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, a)
	}
	return int32(cmd.Process.Pid), addrs
}

func TestUserNames(t *testing.T) {
	for _, tt := range []struct {
		name  string
		flags []string
		want  [3]string // patterns for exported+3, hidden+3, getpid
	}{
		{"symbols", nil, [3]string{`^exported\+0x3$`, `^hidden\+0x3$`, `^getpid\+0x0$`}},
		{"fixed address", []string{"-no-pie"}, [3]string{`^exported\+0x3$`, `^hidden\+0x3$`, `^getpid\+0x`}},
		{"dynamic symbols", []string{"-s", "-rdynamic"}, [3]string{`^exported\+0x3$`, `^prog\([0-9a-f]{8}\)\+0x[0-9a-f]+$`, `^getpid\+0x0$`}},
		{"stripped", []string{"-s"}, [3]string{`^prog\([0-9a-f]{8}\)\+0x[0-9a-f]+$`, `^prog\([0-9a-f]{8}\)\+0x[0-9a-f]+$`, `^getpid\+0x0$`}},
		{"no build id", []string{"-s", "-Wl,--build-id=none"}, [3]string{`^prog\+0x[0-9a-f]+$`, `^prog\+0x[0-9a-f]+$`, `^getpid\+0x0$`}},
		{"static", []string{"-static"}, [3]string{`^exported\+0x3$`, `^hidden\+0x3$`, `^getpid\+0x0$`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pid, addrs := start(t, program(t, source, tt.flags...))
			u := NewUser()
			for i, off := range []uint64{3, 3, 0} {
				if tt.name == "fixed address" && i == 2 {
					continue // the address is that of the linkage table
				}
				if got := u.Name(pid, addrs[i]+off); !regexp.MustCompile(tt.want[i]).MatchString(got) {
					t.Errorf("address %d is %q, want %s", i, got, tt.want[i])
				}
			}
			if got := u.Name(pid, 0x10); got != "0x10" {
				t.Errorf("address 0x10 is %q", got)
			}
		})
	}
}

// A file that was replaced since it was mapped must not lend its names.
func TestReplacedFile(t *testing.T) {
	bin := program(t, source)
	pid, addrs := start(t, bin)
	if err := os.Remove(bin); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, []byte("something else"), 0o755); err != nil {
		t.Fatal(err)
	}
	got := NewUser().Name(pid, addrs[0])
	if got != "exported+0x0" && !strings.HasPrefix(got, "prog") {
		t.Errorf("%q: neither the old file's name nor an offset", got)
	}
}

const goSource = `package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
)

func callee() {
	pcs := make([]uintptr, 8)
	for _, pc := range pcs[:runtime.Callers(1, pcs)] {
		fmt.Printf("%x ", pc)
	}
	fmt.Println()
	bufio.NewReader(os.Stdin).ReadByte()
}

//go:noinline
func caller() { callee(); println() }

func main() { caller() }
`

// Frames as the Go runtime itself reports them get the names it would give them,
// also in a stripped program.
func TestGoProgram(t *testing.T) {
	want := regexp.MustCompile(`^runtime\.goexit(\.abi0)?\+0x1;runtime\.main\+0x[0-9a-f]+;main\.main\+0x[0-9a-f]+;main\.caller\+0x[0-9a-f]+;main\.callee\+0x[0-9a-f]+$`)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no Go compiler")
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "main.go")
	if err := os.WriteFile(src, []byte(goSource), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{nil, {"-ldflags=-s -w"}} {
		bin := filepath.Join(dir, "goprog")
		build := exec.Command("go", append([]string{"build", "-gcflags=-l", "-o", bin}, append(flags, src)...)...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		pid, addrs := start(t, bin)
		if got := New(nil, NewUser()).Stack(true, pid, Latest, addrs); !want.MatchString(got) {
			t.Errorf("%q: stack %q", flags, got)
		}
		os.Remove(bin)
	}
}

func TestVdso(t *testing.T) {
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^([0-9a-f]+)-.*\[vdso\]$`).FindSubmatch(b)
	if m == nil {
		t.Skip("no vdso on this machine")
	}
	lo, _ := strconv.ParseUint(string(m[1]), 16, 64)
	if got := NewUser().Name(int32(os.Getpid()), lo+0x10); got != "[vdso]+0x10" {
		t.Errorf("got %q", got)
	}
}

func TestEndedProcess(t *testing.T) {
	u := NewUser()
	if got := u.Name(1<<22+1, 0x1234); got != "0x1234" {
		t.Errorf("a process that never was: %q", got)
	}
	bin := program(t, source)
	cmd := exec.Command(bin)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	var addr uint64
	fmt.Sscanf(line, "%x", &addr)
	pid := int32(cmd.Process.Pid)
	if got := u.Name(pid, addr); got != "exported+0x0" {
		t.Fatalf("alive: %q", got)
	}
	in.Close()
	cmd.Wait()
	u.now = func() time.Time { return time.Now().Add(time.Hour) }
	if got := u.Name(pid, addr); got != "exported+0x0" {
		t.Errorf("ended: %q, want what was known", got)
	}
}

// A process that execs keeps its pid; the names of the old program must go.
func TestExec(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("fixed addresses are laid out otherwise")
	}
	first := program(t, `
#include <stdio.h>
#include <unistd.h>
int one(int x) { return x + 1; }
int main(int c, char **v) { printf("%lx\n", (long)one); fflush(stdout); getchar(); execl(v[0], v[0], "again", (char*)0); return 1; }
`, "-no-pie")
	second := program(t, `
#include <stdio.h>
int two(int x) { return x + 1; }
int main(void) { printf("%lx\n", (long)two); fflush(stdout); return getchar(); }
`, "-no-pie", "-Wl,-Ttext-segment=0x400000")
	cmd := &exec.Cmd{Path: first, Args: []string{second}}
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); cmd.Wait() }()
	r := bufio.NewReader(out)
	u := NewUser()
	clock := time.Now()
	u.now = func() time.Time { return clock }
	for _, want := range []string{"one+0x0", "two+0x0"} {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		addr, _ := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
		if got := u.Name(int32(cmd.Process.Pid), addr); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		clock = clock.Add(checkEvery)
		in.Write([]byte("\n"))
	}
}

// TestEnding: of a program that has ended, and whose parent has not looked yet, the last
// knowledge stays.
func TestEnding(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	u, pid := NewUser(), int32(cmd.Process.Pid)
	now := time.Now()
	u.now = func() time.Time { return now }
	var before *process
	for range 12_000 { // it is this program until exec(2)
		if before = u.process(pid); len(before.maps) > 0 && strings.HasSuffix(before.maps[0].path, "/sleep") {
			break
		}
		time.Sleep(10 * time.Millisecond)
		now = now.Add(time.Second)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 12_000 {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(b), ") Z ") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	now = now.Add(time.Second)
	if after := u.process(pid); len(before.maps) == 0 || after != before || len(after.maps) == 0 {
		t.Errorf("%d mappings while it ran, %d after it ended", len(before.maps), len(after.maps))
	}
}
