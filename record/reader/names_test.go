package reader_test

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netrec/record/perfring"
	"netrec/record/reader"
	"netrec/record/symbol"
)

// Through the process stacks have the names, and files, that they have without it.
func TestNames(t *testing.T) {
	names := start(t).Names()
	pid := int32(os.Getpid())
	frames := []uint64{uint64(reflect.ValueOf(TestNames).Pointer()), uint64(reflect.ValueOf(hold).Pointer()) + 1, 0x10}
	direct := symbol.NewUser()
	want := symbol.New(nil, direct).Stack(true, pid, symbol.Latest, frames)
	got := symbol.New(nil, names).Stack(true, pid, symbol.Latest, frames)
	if got != want || strings.Count(got, "0x10;") != 1 || strings.Count(got, ";0x") != 0 { // but for the first, all are in this program
		t.Errorf("%s, want %s", got, want)
	}
	if a, b := names.Objects(0), direct.Objects(0); !reflect.DeepEqual(a, b) {
		t.Errorf("objects %v, want %v", a, b)
	}
	gen, since, until := names.Program(pid, 7)
	if again, _, _ := names.Program(pid, until); gen == 0 || again != gen || since > 7 {
		t.Errorf("a process that goes on is program %d and %d, since %d", gen, again, since)
	}
	if err := names.Trouble(); err != nil {
		t.Error(err)
	}
}

// When the process is gone addresses stay what they are, and it can be said why.
func TestNamesEnd(t *testing.T) {
	r := start(t)
	names := r.Names()
	r.Stop()
	if got := symbol.New(nil, names).Stack(true, int32(os.Getpid()), symbol.Latest, []uint64{0x10, 0x20}); got != "0x20;0x10" {
		t.Errorf("named %q", got)
	}
	if names.Trouble() == nil {
		t.Error("nothing to say about it")
	}
}

// A stack from before an exec gets no names of the program that came after it.
func TestNamesBeforeExec(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: left out: messages about execs")
	}
	cpus, err := perfring.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	names, late := start(t).Names(), start(t).Names()
	late.Program(1, 0) // it is there before the exec
	cmd := exec.Command("sh", "-c", "read line; exec sleep 600")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	// The first exec is on the last CPU and the second on the first, so it is read of before it.
	var begin, end unix.CPUSet
	begin.Set(cpus[len(cpus)-1])
	end.Set(cpus[0])
	runtime.LockOSThread() // for good: the thread ends with the test
	if err := unix.SchedSetaffinity(0, &begin); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if err := unix.SchedSetaffinity(cmd.Process.Pid, &end); err != nil {
		t.Fatal(err)
	}
	pid := int32(cmd.Process.Pid)
	code := func(program string) (at uint64) {
		t.Helper()
		for begin := time.Now(); at == 0 && time.Since(begin) < 20*time.Second; time.Sleep(time.Millisecond) {
			at = codeOf(t, pid, program)
		}
		return at
	}
	shell, when := code(""), symbol.Mono()
	named := frame(names, pid, when, shell)
	if strings.HasPrefix(named, "0x") {
		t.Fatalf("%#x of the shell is %s", shell, named)
	}
	if _, err := in.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	sleep := code("sleep")
	if got := frame(names, pid, symbol.Mono(), sleep); !strings.HasPrefix(got, "sleep") {
		t.Errorf("%#x of sleep is %s", sleep, got)
	}
	if got := frame(names, pid, when, shell); got != named {
		t.Errorf("what was %s before the exec is %s after it", named, got)
	}
	if got := frame(names, pid, when, sleep); strings.HasPrefix(got, "sleep") {
		t.Errorf("%#x of the shell is named %s", sleep, got)
	}
	// Whoever meets the process only after the exec does not know what was there.
	if got := frame(late, pid, when, sleep); !strings.HasPrefix(got, "0x") {
		t.Errorf("%#x of the shell, which was never looked at, is named %s", sleep, got)
	}
}

// frame is one address as a stack.
func frame(names symbol.Namer, pid int32, ts, addr uint64) string {
	return symbol.New(nil, names).Stack(true, pid, ts, []uint64{addr})
}

// codeOf finds code of a program in a process, of any if the name is none; 0 for none yet.
func codeOf(t *testing.T, pid int32, program string) (at uint64) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 6 && strings.Contains(f[1], "x") && f[5] == exe && strings.HasSuffix(exe, program) && !strings.HasSuffix(exe, ".test") {
			_, err := fmt.Sscanf(f[0], "%x-", &at)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return at
}

// BenchmarkNames is what a stack costs that the recorder has not named yet.
func BenchmarkNames(b *testing.B) {
	r, err := reader.Start()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Stop()
	names, pid := r.Names(), int32(os.Getpid())
	at := make([]uint64, 30)
	for i := range at {
		at[i] = uint64(reflect.ValueOf(BenchmarkNames).Pointer()) + uint64(i)
	}
	for b.Loop() {
		if _, ok := names.Frames(pid, symbol.Latest, at, at); !ok {
			b.Fatal(names.Trouble())
		}
	}
}
