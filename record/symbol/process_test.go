package symbol

import (
	"os/exec"
	"testing"
)

// told is Execs as a test wants them.
type told struct{ last, missed uint64 }

func (x *told) Last(int32) uint64 { return x.last }
func (x *told) Missed() uint64    { return x.missed }

// Of a process that execs, each time belongs to the program that it had, if that was ever
// looked at, and to none else.
func TestProgramAtATime(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	x, pid := &told{last: 100}, int32(cmd.Process.Pid)
	u := NewWatching(x)
	first, since, until := u.Program(pid, Latest)
	if first == 0 || since != 100 || until == 0 {
		t.Fatalf("program %d, from %d to %d", first, since, until)
	}
	x.last = Mono()
	second, since, _ := u.Program(pid, Latest)
	if second == first || since != x.last {
		t.Errorf("after an exec: program %d, since %d, want another than %d, since %d", second, since, first, x.last)
	}
	for ts, want := range map[uint64]uint64{99: 0, 100: first, x.last - 1: first, x.last: second, Latest: second} {
		if got, _, _ := u.Program(pid, ts); got != want {
			t.Errorf("at %d it was program %d, want %d", ts, got, want)
		}
	}
	gone := x.last - 1
	x.last = Mono()
	u.Program(pid, Latest)
	if got, _, _ := u.Program(pid, gone); got != 0 {
		t.Errorf("two execs later it is program %d", got)
	}
	if names, complete := u.Frames(pid, gone, []uint64{7}, []uint64{7}); names != nil || !complete {
		t.Errorf("two execs later it has names: %q", names)
	}
	x.missed = Mono() // perhaps one of this process
	if _, since, _ := NewWatching(x).Program(pid, Latest); since != x.missed {
		t.Errorf("met after execs were missed at %d, it is known since %d", x.missed, since)
	}
}
