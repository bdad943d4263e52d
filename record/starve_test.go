package record_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"netrec/internal/bench/rig"
	"netrec/schema"
)

func init() { rig.InitWatch() } // does not return in a process that is to be watched

// TestSlowStart lets the last things that need privileges take seconds, with rings that hold a
// tenth of one: rows are taken from them all the while, and none is lost while the machine has time.
func TestSlowStart(t *testing.T) {
	b := newBench(t, "a start that takes long after its first event")
	path := filepath.Join(t.TempDir(), "cap.parquet")
	const pause = 3 * time.Second
	var paused atomic.Int64
	wait := func(c rig.Syscall) (a rig.Answer) {
		if names(c, path+".ready") {
			paused.Add(1)
			a.After = pause
		}
		return a
	}
	load, err := b.ns.StartLoad(rig.Rates{Datagrams: 4_000, Rounds: 500, Connects: 20})
	must(t, err)
	rec, err := rig.Watch(wait, []string{"openat"}, b.bin, path, append(loadOnly, "--netns", b.ns.Name(), "--buffer", "1M", "-e", "tcp_state,sock_io,sys_connect")...)
	must(t, err)
	must(t, rec.Ready())
	_, code, err := rec.End(syscall.SIGINT)
	must(t, err)
	rec.Close()
	_, err = load.Stop()
	must(t, err)
	got := read(t, path)
	if paused.Load() == 0 || time.Duration(got.meta.Recording.StopNS-got.meta.Recording.StartNS) < pause {
		t.Fatalf("%d pauses in a recording of %d ns: nothing was tested", paused.Load(), got.meta.Recording.StopNS-got.meta.Recording.StartNS)
	}
	if rig.Crowd() > 1 {
		t.Logf("the machine is in use, left out: whether nothing was lost: exit code %d, %d lost", code, got.missing())
	} else {
		if code != 0 {
			t.Errorf("exit code %d\n%s", code, rec.Said())
		}
		got.balanceAlone(t)
	}
	if held := int64(1<<20) / int64(unsafe.Sizeof(schema.SockIO{})); got.count() < held*3/2 {
		t.Errorf("%d rows, and the rings alone hold %d: were they read during the pause?\n%s", got.count(), held, rec.Said())
	}
	if rooted := privileged(t, rec.Said()); rooted < pause {
		t.Errorf("it says that it was privileged for %s, less than the pause", rooted)
	}
}

// names reports whether a call opens a file.
func names(c rig.Syscall, path string) bool {
	return strings.HasPrefix(rig.Text(c.Tid, c.Args[1]), path)
}

// privileged is what the recorder says of the time in which it had privileges.
func privileged(t *testing.T, said string) time.Duration {
	t.Helper()
	m := regexp.MustCompile(`privileged for (\S+)`).FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("it does not say how long it was privileged:\n%s", said)
	}
	d, err := time.ParseDuration(m[1])
	must(t, err)
	return d
}

// TestStartWithin lets attaching take longer than it may: the recording begins with the hooks that
// there are, and says which are missing and why.
func TestStartWithin(t *testing.T) {
	b := newBench(t, "a start that takes too long")
	path := filepath.Join(t.TempDir(), "cap.parquet")
	slow := func(c rig.Syscall) (a rig.Answer) {
		if kind := c.Args[0]; kind == bpfProgLoad && c.N > 60 {
			a.After = 500 * time.Millisecond
		}
		return a
	}
	const limit = 4 * time.Second
	rec, err := rig.Watch(slow, []string{"bpf"}, b.bin, path, append(loadOnly, "--netns", b.ns.Name(), "--start-within", limit.String())...)
	must(t, err)
	must(t, rec.Ready())
	load, err := b.ns.StartLoad(rig.Rates{Datagrams: 500, Rounds: 100, Connects: 20})
	must(t, err)
	time.Sleep(time.Second)
	_, err = load.Stop()
	must(t, err)
	_, _, err = rec.End(syscall.SIGINT)
	must(t, err)
	rec.Close()
	got := read(t, path)
	got.balanceAlone(t)
	late := map[bool]int{}
	for _, h := range got.meta.Hooks {
		if h.State == schema.HookNotAsked {
			continue
		}
		why := false
		for _, r := range h.Refused {
			why = why || strings.Contains(r.Why, "not attached within 4s")
		}
		late[why]++
		if why && len(h.Hooks) == 0 && !strings.Contains(rec.Said(), h.Event) {
			t.Errorf("%s has no hook, which the recorder does not say:\n%s", h.Event, rec.Said())
		}
	}
	if late[true] == 0 || late[false] == 0 {
		t.Errorf("%d events came too late, %d did not; want both", late[true], late[false])
	}
	if !strings.Contains(rec.Said(), "--start-within") || !strings.Contains(strings.Join(got.meta.Recording.Warnings, "\n"), "--start-within") {
		t.Errorf("neither user nor file is told why:\n%s\n%q", rec.Said(), got.meta.Recording.Warnings)
	}
	if rooted := privileged(t, rec.Said()); rooted > 2*limit {
		t.Errorf("privileged for %s, limit %s", rooted, limit)
	}
}

const bpfProgLoad = 5 // command of bpf(2)

// TestStartNever lets a program wait for ever to be loaded: the recorder ends by itself, says why and
// leaves no file. Somebody who interrupts it twice need not wait for that.
func TestStartNever(t *testing.T) {
	b := newBench(t, "a start that does not end")
	for _, c := range []struct {
		name, says string
		impatient  bool
		within     time.Duration
	}{
		{"limit", "--start-within", false, 30 * time.Second}, // before the first hook or after it
		{"interrupted twice", "interrupted", true, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cap.parquet")
			limit := "2s"
			if c.impatient {
				limit = "10m"
			}
			never := func(s rig.Syscall) (a rig.Answer) {
				if s.Args[0] == bpfProgLoad && s.N > 60 {
					a.After = time.Hour
				}
				return a
			}
			rec, err := rig.Watch(never, []string{"bpf"}, b.bin, path, "--netns", b.ns.Name(), "--start-within", limit)
			must(t, err)
			if c.impatient {
				must(t, rig.Until("it loads programs", func() bool { return rec.Seen("bpf") > 60 }))
			}
			begun, ended := time.Now(), make(chan struct{})
			if c.impatient {
				go again(ended, func() { _, _ = rec.Signal(syscall.SIGINT) })
			}
			code := rec.Wait()
			close(ended)
			if took := time.Since(begun); code != 1 || !strings.Contains(rec.Said(), c.says) || took > time.Duration(float64(c.within)*rig.Crowd()) {
				t.Errorf("exit code %d after %s, want 1 within %s\n%s", code, took, c.within, rec.Said())
			}
			if _, err := os.Lstat(path); !os.IsNotExist(err) {
				t.Errorf("it left a file: %v", err)
			}
		})
	}
}

// again does something every now and then. Two signals that come before the process had time for the
// first are one.
func again(ended <-chan struct{}, do func()) {
	for {
		select {
		case <-ended:
			return
		case <-time.After(100 * time.Millisecond):
			do()
		}
	}
}

// TestStarvedStart gives the recorder a tenth of a CPU, under load. It begins within
// its limit, nothing is lost that is not counted, and no rare event is.
func TestStarvedStart(t *testing.T) {
	b := newBench(t, "a start among busy programs")
	path := filepath.Join(t.TempDir(), "cap.parquet")
	load, err := b.ns.StartLoad(rig.Rates{Datagrams: 4_000, Rounds: 1_000, Connects: 20})
	must(t, err)
	rec, free, err := rig.StartStarved(b.bin, path, append(loadOnly, "--netns", b.ns.Name(), "--buffer", "4M")...)
	must(t, err)
	defer free()
	must(t, rec.Ready())
	time.Sleep(2 * time.Second)
	// What the kernel does for others on that CPU can starve, too: a worker that was freeing entries of
	// /proc did not run for minutes, and whoever waits for the end of a process waits for it.
	free()
	_, code, err := rec.End(syscall.SIGINT)
	must(t, err)
	_, err = load.Stop()
	must(t, err)
	got := read(t, path)
	lost := got.balance(t, nil)
	if code != 0 && (code != 4 || got.missing() == 0) {
		t.Errorf("exit code %d, %d lost\n%s", code, got.missing(), rec.Said())
	}
	for event, n := range lost {
		if schema.ByName(event).Rare() && n > 0 && event != "skb_drop" && event != "sock_rcvqueue_full" {
			t.Errorf("%s: %d lost, though rare", event, n)
		}
	}
	rooted := privileged(t, rec.Said())
	if rooted > 2*time.Minute {
		t.Errorf("privileged for %s, at most 2m is promised", rooted)
	}
	t.Logf("privileged for %s, %d rows, lost %v", rooted, got.count(), lost)
}

// count is how many rows there are.
func (c *contents) count() (n int64) {
	for _, rows := range c.rows {
		n += rows
	}
	return n
}
