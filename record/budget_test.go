package record_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"netrec/internal/bench/rig"
	"netrec/schema"
)

var budgetStep = flag.Duration("budget-step", 2*time.Second, "how long the load of TestBudget goes on before it doubles")

// talk is a load of many connections whose rounds are counted: each is two sends and two receives.
type talk struct {
	ends   [][2]int
	rate   atomic.Int64 // rounds a second; 0 ends it, negative is without pause
	rounds atomic.Int64
	done   chan error
}

const talkBytes = 97

func startTalk(ns *rig.Namespace, connections int) (*talk, error) {
	l := &talk{done: make(chan error, 1)}
	err := ns.Do(func() error {
		listener, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(listener)
		if err := unix.Bind(listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return err
		}
		if err := unix.Listen(listener, connections); err != nil {
			return err
		}
		at, err := unix.Getsockname(listener)
		if err != nil {
			return err
		}
		for range connections {
			c, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			if err := unix.Connect(c, at); err != nil {
				return err
			}
			s, _, err := unix.Accept(listener)
			if err != nil {
				return err
			}
			l.ends = append(l.ends, [2]int{c, s})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("start talk: %w", err)
	}
	l.rate.Store(1)
	go func() { l.done <- l.run() }()
	return l, nil
}

// run makes as many rounds as the rate asks for, on the connections in turn.
func (l *talk) run() error {
	defer func() {
		for _, e := range l.ends {
			unix.Close(e[0])
			unix.Close(e[1])
		}
	}()
	const slice = 2 * time.Millisecond
	owed, next := 0.0, 0
	for last := time.Now(); ; {
		rate := l.rate.Load()
		if rate == 0 {
			return nil
		}
		now := time.Now()
		owed, last = owed+now.Sub(last).Seconds()*float64(rate), now
		n := int(owed)
		if rate < 0 {
			n = 100
		}
		owed -= float64(n)
		for range n {
			if err := round(l.ends[next%len(l.ends)]); err != nil {
				return err
			}
			next++
			l.rounds.Add(1)
		}
		if rate > 0 {
			time.Sleep(slice)
		}
	}
}

func round(ends [2]int) error {
	var b [talkBytes]byte
	for i := range ends {
		if _, err := unix.Write(ends[i], b[:]); err != nil {
			return err
		}
		if _, err := unix.Read(ends[1-i], b[:]); err != nil {
			return err
		}
	}
	return nil
}

// meter reads what a recording costs from outside: the kernel's account of the recorder and of its
// programs. Counting their time takes time itself, which a program that does nothing shows.
type meter struct {
	rec     *rig.Recorder
	nothing *ebpf.Program
}

func newMeter(t *testing.T, rec *rig.Recorder) *meter {
	t.Helper()
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	must(t, err)
	t.Cleanup(func() { stats.Close() })
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.RawTracepoint, License: "GPL", Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}})
	must(t, err)
	t.Cleanup(func() { p.Close() })
	at, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: "net_dev_queue", Program: p})
	must(t, err)
	t.Cleanup(func() { at.Close() })
	return &meter{rec, p}
}

// spent is what a recording has taken so far, and what counting that took.
type spent struct {
	recorder, probes, nothing time.Duration
	runs, empty               int64
}

func (m *meter) read(t *testing.T) (s spent) {
	t.Helper()
	var clock unix.Timespec
	must(t, unix.ClockGettime(int32(^m.rec.Pid()<<3|2), &clock)) // that of another process, see clock_getcpuclockid(3)
	st, err := m.nothing.Stats()
	must(t, err)
	progs, err := m.rec.Programs()
	must(t, err)
	s = spent{recorder: time.Duration(clock.Nano()), nothing: st.Runtime, empty: int64(st.RunCount)}
	for _, p := range progs {
		s.probes += time.Duration(p.RunNS)
		s.runs += p.Runs
	}
	return s
}

// since is what was taken after an earlier moment: of the recorder, and of its programs.
func (s spent) since(b spent) (recorder, probes time.Duration) {
	counting := float64(s.nothing-b.nothing) / float64(max(s.empty-b.empty, 1))
	return s.recorder - b.recorder, s.probes - b.probes - time.Duration(counting*float64(s.runs-b.runs))
}

// budgetPercent is what the recording of TestBudget may take: less than its hooks need at the end of the
// load when all is recorded.
const budgetPercent = 4

// A load that doubles until the host can do no more leaves the cost where the budget wants it, no rare
// event is lost, and totals are as near to the truth as the answer says.
func TestBudget(t *testing.T) {
	b := newBench(t, "a load that doubles under --budget")
	path := filepath.Join(t.TempDir(), "cap.parquet")
	l, err := startTalk(b.ns, 503)
	must(t, err)
	rec, err := b.ns.Record(b.bin, path, "--budget", fmt.Sprintf("%d%%", budgetPercent))
	must(t, err)
	m, before := newMeter(t, rec), l.rounds.Load()
	var seconds []float64
	for was, rate := m.read(t), int64(500); rate != 0; rate *= 2 {
		if rate > 32_000 {
			rate = 0
		}
		l.rate.Store(cmp.Or(rate, -1))
		for range *budgetStep / time.Second {
			time.Sleep(time.Second)
			is := m.read(t)
			recorder, probes := is.since(was)
			seconds, was = append(seconds, 100*(recorder+probes).Seconds()/float64(runtime.NumCPU())), is
			t.Logf("at %d rounds a second: recorder %s, probes %s in a second", rate, recorder, probes)
		}
	}
	l.rate.Store(0)
	must(t, <-l.done)
	_, code, err := rec.End(unix.SIGINT)
	must(t, err)
	t.Log(rec.Said())
	c := read(t, path)
	c.balanceAlone(t)
	if code != 0 && (code != 4 || c.missing() == 0) { // interrupts may cost frequent events
		t.Errorf("exit code %d", code)
	}
	keptBudget(t, seconds[1:], time.Duration(c.meta.Budget.OverNS))
	nothingRareLost(t, c, 2*len(l.ends))
	if c.meta.Budget.Least(schema.ClassConns) == 1 {
		t.Error("all connections were recorded all the time")
	}
	nearTruth(t, b.bin, path, float64(4*(l.rounds.Load()-before)))
}

// keptBudget wants every second within a quarter above the budget, or told to be above it: how often
// probes run at the end of the load, and what they take when nothing is recorded, depends on the machine.
// Probes run for everybody's packets and calls, and a filter keeps those of others out of the
// recorder's estimate: this is for a host that nobody else uses.
func keptBudget(t *testing.T, seconds []float64, told time.Duration) {
	t.Helper()
	if rig.Crowd() > 1 {
		t.Logf("the machine is in use, left out: whether the cost of each second was within the budget of %d %%: %.1f", budgetPercent, seconds)
		return
	}
	above := slices.DeleteFunc(slices.Clone(seconds), func(p float64) bool { return p <= 1.25*budgetPercent })
	if most := int(math.Ceil(told.Seconds())); len(above) > most {
		t.Errorf("%d seconds took more than 1.25 times the budget of %d %%, %d were told: %.1f", len(above), budgetPercent, most, seconds)
	}
}

// nothingRareLost wants all rows of rare events, and those of each socket that was closed.
func nothingRareLost(t *testing.T, c *contents, sockets int) {
	t.Helper()
	rows := map[string]int64{}
	for p, n := range c.rows {
		rows[p.event] += n
	}
	for _, a := range c.meta.Losses {
		if e := schema.ByName(a.Event); e.Rare() && (a.Lost() > 0 || a.Thinned > 0) {
			t.Errorf("%s: %d lost, %d left out", a.Event, a.Lost(), a.Thinned)
		}
	}
	if n := rows["sys_close"]; n != int64(sockets) {
		t.Errorf("%d closes of %d sockets", n, sockets)
	}
}

// nearTruth compares the calls that an answer has with those that were made.
func nearTruth(t *testing.T, bin, path string, calls float64) {
	t.Helper()
	out, err := exec.Command(bin, "analyze", path, "sockcalls", "--by", "func").CombinedOutput()
	must(t, err)
	sum := 0.0
	for _, m := range regexp.MustCompile(`(?m)^@\[.*\]: (\d+)$`).FindAllSubmatch(out, -1) {
		n, err := strconv.ParseFloat(string(m[1]), 64)
		must(t, err)
		sum += n
	}
	if bytes.Contains(out, []byte("too few connections")) {
		t.Logf("no bound stated: %.0f calls by the answer, %.0f were made", sum, calls)
		return
	}
	bound := regexp.MustCompile(`total ± ([0-9.]+) %`).FindSubmatch(out)
	if bound == nil || !bytes.Contains(out, []byte("of connections sampled since")) {
		t.Fatalf("the answer states no bound or no share:\n%s", out)
	}
	p, err := strconv.ParseFloat(string(bound[1]), 64)
	must(t, err)
	off := 100 * (sum - calls) / calls
	t.Logf("%.0f calls by the answer, %.0f were made: %+.2f %%, stated ± %v %%", sum, calls, off, p)
	if math.Abs(off) > p+0.1 { // rounds before the first look
		t.Errorf("%.0f calls by the answer, %.0f were made: %+.2f %%, stated ± %v %%", sum, calls, off, p)
	}
}
