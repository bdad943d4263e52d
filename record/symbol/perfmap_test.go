package symbol

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"netrec/schema/objfile"
)

func TestParsePerfMap(t *testing.T) {
	tab := parsePerfMap(strings.NewReader("1000 10 first\n" +
		"0x2000 0x20 LInterpreter;::run(int) x\n" +
		"nonsense\n\n3000 zz bad\n4000 0 empty\n5000 10\n" +
		"1000 10 compiled again\n" +
		"6000 10 half a li"))
	for addr, want := range map[uint64]string{
		0x1000: "compiled again", 0x100f: "compiled again", 0x1010: "", 0x201f: "LInterpreter;::run(int) x",
		0x3000: "", 0x4000: "", 0x5000: "", 0x6001: "half a li",
	} {
		got := ""
		if e := tab.Find(addr); e != nil {
			got = tab.Name(e)
		}
		if got != want {
			t.Errorf("%#x: %q, want %q", addr, got, want)
		}
	}
}

// endless is a perf map without end.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, fmt.Sprintf("%x 10 name-%d\n", e.n*16, e.n))
	e.n++
	return n, nil
}

func TestPerfMapIsBounded(t *testing.T) {
	tab := parsePerfMap(&endless{})
	if tab.Len() > objfile.MaxSymbols || tab.Bytes()+objectOverhead > maxObjectBytes {
		t.Errorf("%d entries, %d bytes: more than the cache has room for", tab.Len(), tab.Bytes())
	}
}

// jit maps memory as a JIT compiler does, and returns where it is.
func jit(t *testing.T) uint64 {
	t.Helper()
	b, err := unix.Mmap(-1, 0, 1<<16, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(b) })
	return uint64(uintptr(unsafe.Pointer(&b[0])))
}

func TestPerfMap(t *testing.T) {
	pid := int32(os.Getpid())
	path := fmt.Sprintf("/tmp/perf-%d.map", pid)
	t.Cleanup(func() { os.Remove(path) })
	at := jit(t)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	u := NewUser()
	clock := time.Now()
	u.now = func() time.Time { return clock }
	expect := func(addr uint64, want string) {
		t.Helper()
		if got := u.Name(pid, addr); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	expect(at+4, hex(at+4))
	write(fmt.Sprintf("%x 10 Java;method\n", at))
	expect(at+4, hex(at+4)) // looked for less than a second ago
	clock = clock.Add(missEvery)
	expect(at+4, "Java:method+0x4")
	write(fmt.Sprintf("%x 10 Java;method\n%x 20 later\n", at, at+0x100))
	expect(at+0x101, hex(at+0x101))
	clock = clock.Add(missEvery)
	expect(at+0x101, "later+0x1")
}

func TestPerfMapOfSomebodyElse(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("giving a file away needs root")
	}
	pid := int32(os.Getpid())
	path := fmt.Sprintf("/tmp/perf-%d.map", pid)
	t.Cleanup(func() { os.Remove(path) })
	at := jit(t)
	if err := os.WriteFile(path, fmt.Appendf(nil, "%x 10 planted\n", at), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 4321, 4321); err != nil {
		t.Fatal(err)
	}
	if got := NewUser().Name(pid, at); got != hex(at) {
		t.Errorf("a stranger's perf map gave %q", got)
	}
	os.Remove(path)
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, fmt.Appendf(nil, "%x 10 linked\n", at), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	if got := NewUser().Name(pid, at); got != hex(at) {
		t.Errorf("a link gave %q", got)
	}
}

// Opening for the perf map must also work in a process with another root.
func TestPerfMapInOtherRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("changing the root needs root")
	}
	bin := program(t, `
#include <stdio.h>
#include <sys/mman.h>
int main(void) {
	void *p = mmap(0, 65536, PROT_READ|PROT_EXEC, MAP_ANONYMOUS|MAP_PRIVATE, -1, 0);
	printf("%lx\n", (long)p); fflush(stdout); return getchar();
}`, "-static")
	root := filepath.Dir(bin)
	if err := os.Mkdir(filepath.Join(root, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/prog")
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	cmd.Dir = "/"
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); cmd.Wait() }()
	var at uint64
	if _, err := fmt.Fscanf(out, "%x\n", &at); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "tmp", fmt.Sprintf("perf-%d.map", cmd.Process.Pid))
	if err := os.WriteFile(path, fmt.Appendf(nil, "%x 100 inside\n", at), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := NewUser().Name(int32(cmd.Process.Pid), at+2); got != "inside+0x2" {
		t.Errorf("got %q", got)
	}
}
