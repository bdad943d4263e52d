package record_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netrec/record/rig"
	"netrec/schema"
)

// floodEnv makes this test binary a process that does nothing but call accept in vain.
const floodEnv = "NETREC_TEST_FLOOD"

func init() {
	if os.Getenv(floodEnv) == "" {
		return
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil || unix.Listen(fd, 1) != nil {
		os.Exit(1)
	}
	for {
		_, _, _ = unix.Accept(fd)
	}
}

// TestFlood: processes that make rare events without pause lose their own, and nobody else's.
func TestFlood(t *testing.T) {
	b := newBench(t, "that one process cannot push out the events of others")
	path := filepath.Join(t.TempDir(), "cap.parquet")
	rec, err := b.ns.Record(b.bin, path, append(loadOnly, "--buffer", "8M")...)
	must(t, err)
	for range runtime.NumCPU() {
		flooder := exec.Command(os.Args[0])
		flooder.Env = append(os.Environ(), floodEnv+"=1")
		flooder.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		must(t, b.ns.Do(flooder.Start))
		defer func() { _ = flooder.Process.Kill(); _ = flooder.Wait() }()
	}
	load, err := b.ns.StartLoad(rig.Rates{Datagrams: 30, Rounds: 30, Connects: 30})
	must(t, err)
	time.Sleep(3 * time.Second)
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
