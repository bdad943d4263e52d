package record_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netrec/analyze/scan"
	"netrec/internal/bench/rig"
	"netrec/schema"
)

// badlyEnv makes this test binary a process that does nothing but call accept: in vain
// without pause, or once in each of many threads, where it says "waiting" when all do.
const (
	badlyEnv = "NETREC_TEST_BADLY"
	flooding = "flooding"
	crowding = "crowding"
	crowd    = 8500 // more calls than the table of calls under way holds
)

func init() {
	switch os.Getenv(badlyEnv) {
	case flooding:
		fd := listening(unix.SOCK_NONBLOCK)
		for {
			_, _, _ = unix.Accept(fd)
		}
	case crowding:
		debug.SetMaxThreads(2 * crowd)
		fd := listening(0)
		for range crowd {
			go func() { _, _, _ = unix.Accept(fd) }()
		}
		_ = rig.Until("all threads are there", func() bool {
			threads, err := os.ReadDir("/proc/self/task")
			return err != nil || len(threads) > crowd
		})
		os.Stdout.WriteString("waiting\n")
		select {}
	}
}

func listening(flags int) int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|flags, 0)
	if err != nil || unix.Listen(fd, 1) != nil {
		os.Exit(1)
	}
	return fd
}

// behave runs this test binary as such a process, until the test ends.
func behave(t *testing.T, how string, in func(func() error) error) (said io.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), badlyEnv+"="+how)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, in(cmd.Start))
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return out
}

// TestFlood: processes that make rare events without pause lose their own, and nobody else's.
func TestFlood(t *testing.T) {
	b := newBench(t, "that one process cannot push out the events of others")
	path := filepath.Join(t.TempDir(), "cap.parquet")
	rec, err := b.ns.Record(b.bin, path, append(loadOnly, "--buffer", "8M")...)
	must(t, err)
	for range runtime.NumCPU() {
		behave(t, flooding, b.ns.Do)
	}
	load, err := b.ns.StartLoad(rig.Rates{Datagrams: 30, Rounds: 30, Connects: 30})
	must(t, err)
	for range 3 { // a recorder that is late, however fast this machine is
		time.Sleep(500 * time.Millisecond)
		_, err = rec.Signal(syscall.SIGSTOP)
		must(t, err)
		time.Sleep(300 * time.Millisecond)
		_, err = rec.Signal(syscall.SIGCONT)
		must(t, err)
	}
	sides, err := load.Stop()
	must(t, err)
	_, _, err = rec.End(syscall.SIGINT)
	must(t, err)
	c := read(t, path)
	lost := c.balance(t, sides)
	if lost["sys_accept"] == 0 {
		t.Errorf("lost %v: the flood found room, nothing was tested", lost)
	}
	for event, n := range lost {
		if n > 0 && event != "sys_accept" && schema.ByName(event).Rare() {
			t.Errorf("%s: %d lost to a flood of sys_accept", event, n)
		}
	}
	made := 0
	for _, s := range sides {
		if made += len(s.Calls); c.tids[s.Key] != int64(len(s.Calls)) {
			t.Errorf("%v: %d rows, the load made %d calls", s.Key, c.tids[s.Key], len(s.Calls))
		}
	}
	t.Logf("%d calls of the load, %d accepts of the flood recorded, %d lost", made, c.sum("sys_accept"), lost["sys_accept"])
}

// sum is how many rows of an event there are.
func (c *contents) sum(event string) (n int64) {
	for p, rows := range c.rows {
		if p.event == event {
			n += rows
		}
	}
	return n
}

// TestCrowd: thousands of threads that wait in another namespace take no room in the table of
// calls under way.
func TestCrowd(t *testing.T) {
	b := newBench(t, "that calls of another namespace take no room")
	other, err := rig.New()
	must(t, err)
	t.Cleanup(other.Close)
	path := filepath.Join(t.TempDir(), "cap.parquet")
	rec, err := b.ns.Record(b.bin, path, append(loadOnly, "-e", "sys_accept,sys_connect,tcp_state")...)
	must(t, err)
	if line, err := bufio.NewReader(behave(t, crowding, other.Do)).ReadString('\n'); err != nil || line != "waiting\n" {
		t.Fatalf("the crowd said %q, %v", line, err)
	}
	load, err := b.ns.StartLoad(rig.Rates{Connects: 50})
	must(t, err)
	time.Sleep(time.Second)
	sides, err := load.Stop()
	must(t, err)
	_, code, err := rec.End(syscall.SIGINT)
	must(t, err)
	if lost := read(t, path).balance(t, sides); code != 0 || lost["sys_accept"]+lost["sys_connect"] > 0 {
		t.Errorf("exit code %d, lost %v", code, lost)
	}
}

// TestCountsOfALateRecorder floods a recorder whose disk is slow, so that the rings fill every pile to the brim: what
// it counts comes into the file all the same, and all of it.
func TestCountsOfALateRecorder(t *testing.T) {
	b := newBench(t, "that a recorder which is late counts all calls")
	path := filepath.Join(t.TempDir(), "cap.parquet")
	late := func(c rig.Syscall) rig.Answer { return rig.Answer{After: 200 * time.Millisecond} }
	rec, err := rig.Watch(late, []string{"pwrite64"}, b.bin, path, append(loadOnly, "--netns", b.ns.Name(), "--buffer", "32M", "-e", "sys_accept", "--count-tp", "net:net_dev_queue")...)
	must(t, err)
	must(t, rec.Ready())
	for range runtime.NumCPU() {
		behave(t, flooding, b.ns.Do)
	}
	time.Sleep(3 * time.Second) // the piles are full
	load, err := b.ns.StartLoad(rig.Rates{Datagrams: 300})
	must(t, err)
	time.Sleep(2 * time.Second)
	sides, err := load.Stop()
	must(t, err)
	_, _, err = rec.End(syscall.SIGINT)
	must(t, err)
	rec.Close()
	sent := 0
	for _, s := range sides {
		if s.Dir == "send" {
			sent += len(s.Calls)
		}
	}
	f, err := scan.Open(path, scan.Options{})
	must(t, err)
	defer f.Close()
	cpu, count, total := scan.MustInt("cpu"), scan.MustInt("count"), scan.MustInt("count_total")
	sums, totals := map[int64]int64{}, map[int64]int64{}
	must(t, f.Scan(scan.Query{}, func(r *scan.Row) error {
		if r.Event.Name == "tp_count" {
			sums[r.Int(cpu)] += r.Int(count)
			totals[r.Int(cpu)] = max(totals[r.Int(cpu)], r.Int(total))
		}
		return nil
	}))
	all := int64(0)
	for at, n := range sums {
		if all += n; n != totals[at] {
			t.Errorf("CPU %d: rows count %d packets, the last one says that there were %d", at, n, totals[at])
		}
	}
	if sent == 0 || all < int64(sent) { // others on this machine send, too
		t.Errorf("%d packets counted, the load sent %d\n%s", all, sent, rec.Said())
	}
}
