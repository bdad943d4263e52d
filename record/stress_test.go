package record_test

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"netrec/analyze/scan"

	"golang.org/x/sys/unix"

	"netrec/internal/bench/rig"
	"netrec/schema"
)

// bench is a recorder's binary and a namespace to record.
type bench struct {
	bin string
	ns  *rig.Namespace
}

func newBench(t *testing.T, what string) bench {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("not root: left out: %s", what)
	}
	bin, err := rig.Build(t.TempDir(), "cmd/netrec")
	must(t, err)
	ns, err := rig.New()
	must(t, err)
	t.Cleanup(ns.Close)
	return bench{bin, ns}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// place is an event on a CPU.
type place struct {
	event string
	cpu   int64
}

// contents is what a recording holds, by event and CPU, and what it says about losses.
type contents struct {
	meta *scan.Meta
	rows map[place]int64
	lost map[place]map[string]int64 // by cause
	tids map[rig.Key]int64
}

func read(t *testing.T, path string) *contents {
	t.Helper()
	f, err := scan.Open(path, scan.Options{})
	must(t, err)
	defer f.Close()
	cpu, tid, dir, count := scan.MustInt("cpu"), scan.MustInt("tid"), scan.MustStr("dir"), scan.MustInt("lost_count")
	lostEvent, lostCPU, cause := scan.MustStr("lost_event"), scan.MustInt("lost_cpu"), scan.MustStr("cause")
	c := &contents{f.Meta(), map[place]int64{}, map[place]map[string]int64{}, map[rig.Key]int64{}}
	must(t, f.Scan(scan.Query{}, func(r *scan.Row) error {
		if r.Event.Name == "lost" {
			p := place{r.Str(lostEvent), r.Int(lostCPU)}
			if c.lost[p] == nil {
				c.lost[p] = map[string]int64{}
			}
			c.lost[p][r.Str(cause)] += r.Int(count)
		}
		if !r.Event.Own() {
			c.rows[place{r.Event.Name, r.Int(cpu)}]++
			c.tids[rig.Key{Event: r.Event.Name, Tid: int(r.Int(tid)), Dir: r.Str(dir)}]++
		}
		return nil
	}))
	return c
}

// balance holds account, rows and the log of the load, if there is one, against each other, by event and CPU.
// It returns how many events of each kind were lost.
func (c *contents) balance(t *testing.T, sides []*rig.Side) map[string]int64 {
	t.Helper()
	calls := map[place]int64{}
	for _, s := range sides {
		calls[place{s.Event, int64(s.CPU)}] += int64(len(s.Calls))
	}
	lost, nested := map[string]int64{}, map[string]int64{}
	seen := map[place]bool{}
	for _, a := range c.meta.Losses {
		nested[a.Event] += a.Nested
	}
	for _, a := range c.meta.Losses {
		p := place{a.Event, int64(a.CPU)}
		seen[p] = true
		lost[a.Event] += a.Lost()
		if a.Generated != a.Recorded+a.Lost() {
			t.Errorf("%v: generated %d, recorded %d, lost %d", p, a.Generated, a.Recorded, a.Lost())
		}
		if c.rows[p] != a.Recorded {
			t.Errorf("%v: %d rows, the account has %d", p, c.rows[p], a.Recorded)
		}
		// What the kernel did not show a probe is known by event only.
		if more := calls[p] - a.Generated; sides != nil && a.Event == "sock_io" && a.CPU >= 0 && (more < 0 || more > nested[a.Event]) {
			t.Errorf("%v: generated %d, the load made %d calls", p, a.Generated, calls[p])
		}
		for cause, n := range map[string]int64{"ring": a.Ring, "scratch": a.Scratch, "writer": a.Writer, "nested": a.Nested} {
			if c.lost[p][cause] != n {
				t.Errorf("%v: rows tell of %d lost by %s, the account of %d", p, c.lost[p][cause], cause, n)
			}
		}
	}
	for p := range c.rows {
		if !seen[p] {
			t.Errorf("%v: rows, but not in the account", p)
		}
	}
	return lost
}

// loadOnly leaves out what others do in the namespace of a load: who lists the sockets of all
// namespaces, as recorders do when they start, talks netlink there.
var loadOnly = []string{"--proto", "tcp,udp"}

// TestStoppedConsumer stops the recorder for seconds under load, with small rings: what
// does not fit is lost, counted to the last event, and none of it is a rare one.
func TestStoppedConsumer(t *testing.T) {
	b := newBench(t, "the account of losses with a stopped recorder")
	path := filepath.Join(t.TempDir(), "cap.parquet")
	rec, err := b.ns.Record(b.bin, path, append(loadOnly, "--buffer", "2M")...) // room for connects that a busy machine makes late and at once
	must(t, err)
	load, err := b.ns.StartLoad(rig.Rates{Datagrams: 20_000, Rounds: 2_000, Connects: 5})
	must(t, err)
	time.Sleep(time.Second)
	for range 2 {
		_, err = rec.Signal(syscall.SIGSTOP)
		must(t, err)
		time.Sleep(2 * time.Second)
		_, err = rec.Signal(syscall.SIGCONT)
		must(t, err)
		time.Sleep(500 * time.Millisecond)
	}
	sides, err := load.Stop()
	must(t, err)
	_, code, err := rec.End(syscall.SIGINT)
	must(t, err)
	if code != 4 {
		t.Errorf("exit code %d, want 4 for events lost\n%s", code, rec.Said())
	}
	c := read(t, path)
	lost := c.balance(t, sides)
	if lost["sock_io"] == 0 || lost["tcp_rcv_est"] == 0 {
		t.Errorf("lost %v: the hot rings did not overflow, nothing was tested", lost)
	}
	for event, n := range lost {
		// When its reader lags, the load's datagrams find its queue full and are dropped in
		// thousands, and TCP takes segments for lost; such floods go with the hot events.
		if schema.ByName(event).Rare() && n > 0 && !slices.Contains([]string{"skb_drop", "sock_rcvqueue_full", "tcp_cong_state"}, event) {
			t.Errorf("%s: %d lost, though rare", event, n)
		}
	}
	for _, s := range sides {
		if s.Event != "sock_io" && c.tids[s.Key] != int64(len(s.Calls)) {
			t.Errorf("%v: %d rows, the load made %d calls", s.Key, c.tids[s.Key], len(s.Calls))
		}
	}
	t.Logf("lost %v of %d socket calls made", lost, calls(sides))
}

func calls(sides []*rig.Side) (n int) {
	for _, s := range sides {
		if s.Event == "sock_io" {
			n += len(s.Calls)
		}
	}
	return n
}

// TestEndings: whatever ends a recording, the file is closed in order, the account is
// exact, and the exit code is the documented one.
func TestEndings(t *testing.T) {
	b := newBench(t, "the ways a recording ends")
	hangUp := make(chan os.Signal, 1)
	signal.Notify(hangUp, syscall.SIGHUP) // a test under nohup(1) would pass on that it is ignored
	defer signal.Stop(hangUp)
	for _, c := range []struct {
		name   string
		args   []string
		signal syscall.Signal // 0: it ends by itself
		end    string
		code   int
	}{
		{name: "interrupt", signal: syscall.SIGINT, end: "signal"},
		{name: "terminate", signal: syscall.SIGTERM, end: "signal"},
		{name: "hang up", signal: syscall.SIGHUP, end: "signal"},
		{name: "time", args: []string{"-t", "700ms"}, end: "timer"},
		{name: "count", args: []string{"-c", "3000"}, end: "count"},
		{name: "command", args: []string{"--", "sleep", "0.5"}, end: "command"},
		{name: "command with code", args: []string{"--", "sh", "-c", "exit 7"}, end: "command", code: 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cap.parquet")
			load, err := b.ns.StartLoad(rig.Rates{Datagrams: 2_000, Rounds: 500, Connects: 20})
			must(t, err)
			rec, err := b.ns.Record(b.bin, path, c.args...)
			must(t, err)
			code := 0
			if c.signal != 0 {
				time.Sleep(700 * time.Millisecond)
				_, code, err = rec.End(c.signal)
				must(t, err)
			} else {
				code = rec.Wait()
			}
			_, err = load.Stop()
			must(t, err)
			got := read(t, path)
			if want := c.code; code != want && (want != 0 || code != 4 || got.missing() == 0) { // interrupts may cost events
				t.Errorf("exit code %d, want %d; %d lost\n%s", code, want, got.missing(), rec.Said())
			}
			if got.meta.Recording.End != c.end || len(got.meta.Problems) > 0 {
				t.Errorf("ended by %q, want %q; problems %q", got.meta.Recording.End, c.end, got.meta.Problems)
			}
			got.balanceAlone(t)
		})
	}
}

// missing is how many events the account says were lost.
func (c *contents) missing() (n int64) {
	for _, a := range c.meta.Losses {
		n += a.Lost()
	}
	return n
}

// balanceAlone is balance for a load that began before the recording.
func (c *contents) balanceAlone(t *testing.T) {
	t.Helper()
	var rows int64
	for _, a := range c.meta.Losses {
		if n := c.rows[place{a.Event, int64(a.CPU)}]; a.Recorded != n || a.Generated != n+a.Nested || a.Lost() != a.Nested {
			t.Errorf("%s on CPU %d: generated %d, recorded %d, lost %d, rows %d", a.Event, a.CPU, a.Generated, a.Recorded, a.Lost(), n)
		}
		rows += a.Recorded
	}
	if rows == 0 {
		t.Error("nothing was recorded")
	}
}

// TestRefusedStart: a recording that cannot begin leaves what was there and ends with 1.
func TestRefusedStart(t *testing.T) {
	b := newBench(t, "recordings that cannot begin")
	path := filepath.Join(t.TempDir(), "cap.parquet")
	must(t, os.WriteFile(path, []byte("mine"), 0o600))
	if _, err := b.ns.Record(b.bin, path, "-t", "1ms"); err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("overwriting without --force: %v, want exit status 1", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "mine" {
		t.Errorf("the file is now %q, %v", got, err)
	}
	rec, err := b.ns.Record(b.bin, path, "-t", "1ms", "--force")
	must(t, err)
	if code := rec.Wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, rec.Said())
	}
}

// TestFailedStart: a recording that fails on its way to the first row leaves no file, and waits
// for nobody.
func TestFailedStart(t *testing.T) {
	b := newBench(t, "recordings that fail while they begin")
	dir := t.TempDir()
	path, pipe := filepath.Join(dir, "cap.parquet"), filepath.Join(dir, "pipe")
	must(t, unix.Mkfifo(pipe, 0o600)) // without a reader
	cmd := exec.Command(b.bin, "record", "--netns", b.ns.Name(), "-e", "tcp_state", "-t", "1h", "-o", path, "--ready-file", pipe)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "pipe") {
		t.Errorf("with a pipe as --ready-file: %v, want exit code 1\n%s", err, out)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("it left a file: %v", err)
	}
}

// TestSpoiltFile: a file that is taken away or cut off during the recording is no success.
func TestSpoiltFile(t *testing.T) {
	b := newBench(t, "recordings whose file goes away")
	for _, c := range []struct {
		name, says string
		spoil      func(path string) error
	}{
		{"removed", "was removed", os.Remove},
		{"replaced", "was removed", func(path string) error { return os.Rename(path+".other", path) }},
		{"cut off", "was cut off", func(path string) error { return os.Truncate(path, 100) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cap.parquet")
			must(t, os.WriteFile(path+".other", nil, 0o600))
			rec, err := b.ns.Record(b.bin, path, loadOnly...)
			must(t, err)
			load, err := b.ns.StartLoad(rig.Rates{Datagrams: 500, Rounds: 100, Connects: 5})
			must(t, err)
			time.Sleep(time.Second)
			must(t, c.spoil(path))
			time.Sleep(time.Second)
			_, err = load.Stop()
			must(t, err)
			if _, code, _ := rec.End(syscall.SIGINT); code == 0 || !strings.Contains(rec.Said(), c.says) {
				t.Errorf("exit code %d, and it said\n%s", code, rec.Said())
			}
		})
	}
}
