package truth

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"netrec/analyze/scan"
	"netrec/internal/bench/rig"
	"netrec/internal/bench/vmtest/traffic"
)

// stormTime is how long the storm lasts at least: several commits, and longer than memory
// takes to settle. A busy guest takes longer for the looks at the recorder.
const (
	stormTime  = 10 * time.Second
	stormLooks = 10
)

// TestStorm turns every event on and lets iperf3, small datagrams and connections without
// pause loose. Much may be lost; all of it must be counted, and nothing may grow.
func TestStorm(t *testing.T) {
	tools := needTools(t, "all events together under load")
	ns, err := rig.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ns.Close)
	capture := filepath.Join(t.TempDir(), "storm.parquet")
	rec, err := ns.Record(tools+"/netrec", capture, "-e", "all", "--profile", "full")
	if err != nil {
		t.Fatal(err)
	}
	load, err := ns.StartLoad(rig.Rates{Datagrams: 5000, Rounds: 1000, Connects: -1})
	if err != nil {
		t.Fatal(err)
	}
	streams := iperf(t, ns)
	kept := watchKept(t, rec)
	for _, s := range streams {
		_ = s.Process.Signal(syscall.SIGINT) // the client reports, the server ends
		_ = s.Wait()
	}
	sides, err := load.Stop()
	if err != nil {
		t.Fatal(err)
	}
	_, code, err := rec.End(syscall.SIGINT)
	if err != nil || code != 0 && code != 4 {
		t.Fatalf("record ended with %d: %v\n%s", code, err, rec.Said())
	}
	meta, rows, opened := countRows(t, capture)
	for _, e := range slices.Concat(balance(meta.Losses, rows), checkHooks(&Capture{Meta: meta}, expected(t)), keptBounded(kept),
		checkOpened(t, ns, opened, lostRows(&Capture{Meta: meta}, "tcp_state"))) {
		t.Error(e)
	}
	var total, lost int64
	for _, n := range meta.Losses {
		total, lost = total+n.Generated, lost+n.Lost()
	}
	calls := 0
	for _, s := range sides {
		calls += len(s.Calls)
	}
	t.Logf("%d events, %d lost, of %d socket calls and %d streams of iperf3; at the end %+v", total, lost, calls, len(streams)/2, kept[len(kept)-1])
	if total < int64(calls) {
		t.Errorf("%d events of %d socket calls", total, calls)
	}
}

// iperf starts a stream of TCP and one of datagrams, each a server and a client. Guests
// have the program.
func iperf(t *testing.T, ns *rig.Namespace) (started []*exec.Cmd) {
	t.Helper()
	path, err := exec.LookPath("iperf3")
	if err != nil {
		if os.Getenv(guestEnv) != "" {
			t.Fatal(err)
		}
		t.Log("no iperf3 here: the storm is without its streams")
		return nil
	}
	run := func(args ...string) {
		cmd := exec.Command(path, args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := ns.Do(cmd.Start); err != nil {
			t.Fatalf("iperf3 %s: %v", strings.Join(args, " "), err)
		}
		started = append(started, cmd)
	}
	run("-s", "-p", "5201")
	run("-s", "-p", "5202")
	err = rig.Until("iperf3 listens", func() (up bool) { // a client without a server ends at once
		_ = ns.Do(func() error {
			b, _ := os.ReadFile("/proc/thread-self/net/tcp6") // 5201 and 5202, for both families
			b4, err := os.ReadFile("/proc/thread-self/net/tcp")
			b = append(b, b4...)
			up = strings.Contains(string(b), ":1451 ") && strings.Contains(string(b), ":1452 ")
			return err
		})
		return up
	})
	if err != nil {
		t.Fatal(err)
	}
	run("-c", "127.0.0.1", "-p", "5201", "-t", "60")
	run("-c", "127.0.0.1", "-p", "5202", "-t", "60", "-u", "-b", "20M", "-l", "1200")
	slices.Reverse(started) // clients end first
	return started
}

// watchKept looks at the recorder while the storm goes on: at least stormLooks times, and
// until its memory has settled. A slow guest may take four times as long.
func watchKept(t *testing.T, rec *rig.Recorder) (all []rig.Kept) {
	t.Helper()
	for ; len(all) < stormLooks || len(all) < 4*stormLooks && !settled(all); time.Sleep(stormTime / stormLooks) {
		k, err := rec.Kept()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, k)
	}
	return all
}

// maxRSS is what the recorder may hold, however long it lasts: three piles of 32 MiB between
// rings and file, what the encoder and the collector of garbage make of them, and the rings,
// which are mapped.
const maxRSS = 512 << 20

// settled: resident memory has not grown by half since the first half of the looks.
func settled(all []rig.Kept) bool {
	most := func(ks []rig.Kept) (n int64) {
		for _, k := range ks {
			n = max(n, k.RSS)
		}
		return n
	}
	early, late := most(all[:len(all)/2]), most(all[len(all)/2:])
	return late <= early+early/2
}

// keptBounded: maps and programs are as large as at the start, descriptors do not pile up,
// and resident memory stays within its bound and has stopped growing.
func keptBounded(all []rig.Kept) Errors {
	var errs Errors
	first := all[0]
	if !settled(all) {
		errs.add("resident memory grows: %+v", all)
	}
	for i, k := range all {
		if k.Kernel != first.Kernel || k.Files > first.Files+2 || k.RSS > maxRSS {
			errs.add("look %d: %d bytes in the kernel, %d files, %d MiB resident; at the start %d, %d, %d", i, k.Kernel, k.Files, k.RSS>>20,
				first.Kernel, first.Files, first.RSS>>20)
			break
		}
	}
	return errs
}

// checkOpened: threads that push each other off a CPU in the middle of an event leave one
// row of it, not two and not none.
func checkOpened(t *testing.T, ns *rig.Namespace, rows, lost int) (errs Errors) {
	t.Helper()
	var counted map[string]int
	if err := ns.Do(func() (err error) { counted, err = traffic.ReadCounters(); return err }); err != nil {
		t.Fatal(err)
	}
	if n := counted["Tcp.ActiveOpens"]; rows > n || rows+lost < n || n == 0 {
		errs.add("tcp_state: %d changes to SYN_SENT and %d lost, the kernel counted %d", rows, lost, n)
	}
	return errs
}

// countRows counts without keeping anything of the rows: those of each event and CPU, and
// those that open a connection.
func countRows(t *testing.T, path string) (meta *scan.Meta, rows map[place]int64, opened int) {
	t.Helper()
	f, err := scan.Open(path, scan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cpu, state := scan.MustInt("cpu"), scan.MustStr("new_state")
	rows = map[place]int64{}
	err = f.Scan(scan.Query{Columns: []scan.Col{cpu.Col(), state.Col()}}, func(r *scan.Row) error {
		rows[place{r.Event.Name, r.Int(cpu)}]++
		if r.Event.Name == "tcp_state" && r.Str(state) == "SYN_SENT" {
			opened++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return f.Meta(), rows, opened
}
