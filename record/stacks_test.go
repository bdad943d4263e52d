package record_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"netrec/analyze/scan"
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
