package record_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"netrec/analyze/scan"
	"netrec/internal/bench/rig"
)

// closings makes n connections in the namespace, one after the other, which both sides close
// in good order.
func (b *bench) closings(t *testing.T, n int) {
	t.Helper()
	var l net.Listener
	must(t, b.ns.Do(func() (err error) { l, err = net.Listen("tcp", "127.0.0.1:0"); return err }))
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("hello"))
			_ = c.Close()
		}
	}()
	must(t, b.ns.Do(func() error {
		for range n {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, c)
			if c.Close(); err != nil {
				return err
			}
		}
		return nil
	}))
}

// switches is how often the threads of a process went to sleep.
func switches(t *testing.T, pid int) (n int) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	must(t, err)
	for _, task := range tasks {
		b, _ := os.ReadFile(task) // it may have ended
		for line := range strings.Lines(string(b)) {
			var v int
			if _, err := fmt.Sscanf(line, "voluntary_ctxt_switches: %d", &v); err == nil {
				n += v
			}
		}
	}
	return n
}

// TestStacks: every connect has its stack, and those that the recorder knows do not wake it;
// packets that a close in good order frees have one for a share, and all with --all-stacks.
func TestStacks(t *testing.T) {
	b := newBench(t, "which rows have stacks")
	const conns = 1999
	for _, all := range []bool{false, true} {
		t.Run(fmt.Sprintf("all=%t", all), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cap.parquet")
			args := []string{"-e", "sys_connect,skb_drop", "--buffer", "64M"}
			if all {
				args = append(args, "--all-stacks")
			}
			rec, err := b.ns.Record(b.bin, path, args...)
			must(t, err)
			before := switches(t, rec.Pid())
			b.closings(t, conns)
			slept := switches(t, rec.Pid()) - before
			_, code, err := rec.End(syscall.SIGINT)
			must(t, err)
			if code != 0 {
				t.Fatalf("exit code %d\n%s", code, rec.Said())
			}
			connects, named, drops, stacked := stacksIn(t, path)
			if connects != conns || named != conns {
				t.Errorf("%d connects, %d with a stack, want %d of both", connects, named, conns)
			}
			t.Logf("%d frees at closes, %d with a stack; the recorder slept %d times", drops, stacked, slept)
			if drops < conns/2 {
				t.Errorf("%d frees in %d closes: nothing was tested", drops, conns)
			}
			// At first 32 a second on a CPU; a slow machine takes some seconds.
			if share := drops/64 + 20*32*runtime.NumCPU(); all && stacked != drops || !all && (stacked == 0 || stacked > share) {
				t.Errorf("%d of %d frees have a stack", stacked, drops)
			}
			if slept > conns {
				t.Errorf("the recorder slept %d times for %d connects of one process", slept, conns)
			}
		})
	}
}

// TestFramePointers: what a register holds of a program without frame pointers is not followed, and
// costs neither an exception nor the truth of the stack; a frame pointer is.
func TestFramePointers(t *testing.T) {
	b := newBench(t, "stacks of programs without frame pointers")
	if runtime.GOARCH != "amd64" {
		t.Skip("the program is x86-64's: left out: stacks of programs without frame pointers")
	}
	bin := filepath.Join(t.TempDir(), "frames")
	if out, err := exec.Command("cc", "-O1", "-fno-omit-frame-pointer", "-mno-red-zone", "-o", bin, "../testdata/symbols/frames.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var l net.Listener
	must(t, b.ns.Do(func() (err error) { l, err = net.Listen("tcp", "127.0.0.1:0"); return err }))
	defer l.Close()
	path := filepath.Join(t.TempDir(), "cap.parquet")
	rec, err := b.ns.Record(b.bin, path, "-e", "sys_connect", "--comm", "frames")
	must(t, err)
	cmd := exec.Command(bin, fmt.Sprint(l.Addr().(*net.TCPAddr).Port))
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, b.ns.Do(cmd.Start))
	defer func() { in.Close(); _ = cmd.Wait() }()
	must(t, rig.Until("three have connected", func() bool { stacks, _, _ := connects(t, path); return len(stacks) == 3 }))
	_, code, err := rec.End(syscall.SIGINT)
	must(t, err)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, rec.Said())
	}
	stacks, _, _ := connects(t, path)
	framed := false
	for stack := range stacks {
		innermost := stack[strings.LastIndexByte(stack, ';')+1:]
		if strings.HasPrefix(innermost, "framed+") {
			framed = strings.Contains(stack, "main+")
		} else if stack != innermost || !strings.HasPrefix(stack, "nowhere+") && !strings.HasPrefix(stack, "elsewhere+") {
			t.Errorf("stack %s, want the function alone", stack)
		}
	}
	if !framed {
		t.Errorf("stacks %v, want one of framed, called by main", stacks)
	}
}

// stacksIn counts connects and frees of packets at closes, and those with a stack.
func stacksIn(t *testing.T, path string) (connects, named, drops, stacked int) {
	t.Helper()
	f, err := scan.Open(path, scan.Options{})
	must(t, err)
	defer f.Close()
	ustack, kstack, reason, family := scan.MustStr("ustack"), scan.MustStr("kstack"), scan.MustStr("drop_reason"), scan.MustStr("family")
	must(t, f.Scan(scan.Query{}, func(r *scan.Row) error {
		switch {
		case r.Event.Name == "sys_connect" && r.Str(family) == "inet":
			if connects++; r.HasStr(ustack) {
				named++
			}
		case r.Event.Name == "skb_drop" && slices.Contains([]string{"QUEUE_PURGE", "NOT_SPECIFIED"}, r.Str(reason)): // before 6.10 purges had no name
			if drops++; r.HasStr(kstack) {
				stacked++
			}
		}
		return nil
	}))
	return connects, named, drops, stacked
}
