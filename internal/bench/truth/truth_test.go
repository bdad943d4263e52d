package truth

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"netrec/internal/bench/rig"
	"netrec/internal/bench/vmtest/traffic"
	"netrec/schema"
)

// guestEnv names the kernel to the test binary inside it, where its tools lie in /host.
const guestEnv = rig.GuestEnv

// expected is which events a kernel cannot show, by probes.md: this machine's has neither
// trampolines nor kprobes. Debian's have everything but tracepoints that came later.
func expected(t *testing.T) Expect {
	t.Helper()
	types, err := btf.LoadKernelSpec()
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat("/sys/bus/event_source/devices/kprobe")
	functions := os.Getenv(guestEnv) != "" || err == nil
	want := Expect{Functions: functions}
	for _, e := range schema.Events {
		if e.Own() || slices.ContainsFunc(e.Ladder, func(r schema.Rung) bool { return functions || !needsFunctions(r) }) {
			continue
		}
		want.Missing = append(want.Missing, e.Name)
	}
	for event, tracepoint := range map[string]string{"tcp_cong_state": "tcp_cong_state_set", "qdisc_drop": "qdisc_drop", "sock_error": "inet_sk_error_report"} {
		var td *btf.Typedef
		if types.TypeByName("btf_trace_"+tracepoint, &td) != nil {
			want.Missing = append(want.Missing, event)
		}
	}
	// epoll_pwait2 came with 5.11: a system call that this kernel does not know.
	if _, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, ^uintptr(0), 0, 0, 0, 0, 0); errno == unix.ENOSYS {
		want.Absent = []string{"syscall:sys_enter_epoll_pwait2", "syscall:sys_exit_epoll_pwait2"}
	}
	// Guests have simulated radios; elsewhere there may be none.
	if _, err := os.Stat("/sys/module/cfg80211"); err != nil && os.Getenv(guestEnv) == "" {
		want.Missing = append(want.Missing, "wifi_scan", "wifi_channel")
	}
	return want
}

// needsFunctions reports a rung that cannot do without a hook on a kernel function.
func needsFunctions(r schema.Rung) bool {
	return slices.ContainsFunc(r, func(h schema.Hook) bool {
		return !h.Optional && slices.Contains([]schema.Kind{schema.Fentry, schema.Fexit, schema.Kprobe, schema.Kretprobe, schema.KprobeMulti}, h.Kind)
	})
}

// again begins what a test says that records once more, at most so many times.
const (
	again     = "once more"
	mostAgain = 3
)

// buildTools makes the folder that a guest sees: the recorder, the traffic and this test.
func buildTools(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	buildLookup(t, dir)
	for _, args := range [][]string{
		{"build", "-o", dir + "/netrec", "netrec/cmd/netrec"},
		{"build", "-o", dir + "/traffic", "netrec/internal/bench/vmtest/cmd/traffic"},
		{"test", "-c", "-o", dir + "/truth.test", "netrec/internal/bench/truth"},
	} {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return dir
}

// needTools is where recorder, traffic and lookups are; what is not checked without root
// is said.
func needTools(t *testing.T, what string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("recording needs root: not checked: %s", what)
	}
	if os.Getenv(guestEnv) != "" {
		traffic.LoadRadios()
		return "/host"
	}
	return buildTools(t)
}

// TestThisKernel records known traffic on the running kernel and checks every row.
func TestThisKernel(t *testing.T) {
	tools := needTools(t, "the account, calls, counters and packets of this kernel")
	capture := filepath.Join(t.TempDir(), "truth.parquet")
	c, results := recordAll(t, tools, capture)
	for range mostAgain {
		wrong, why := wrongRows(results), excuse(c)
		if wrong == "" || why == "" {
			break
		}
		t.Logf(again+": %s; wrong without them: %s", why, wrong)
		capture = filepath.Join(t.TempDir(), "again.parquet")
		c, results = recordAll(t, tools, capture)
	}
	saveHooks(t, c)
	for _, name := range sortedNames(results) {
		t.Run(name, func(t *testing.T) {
			for _, e := range results[name] {
				t.Error(e)
			}
		})
	}
	t.Run("answers", func(t *testing.T) { answers(t, tools, capture, c) })
	t.Run("counts", func(t *testing.T) { counts(t, tools) })
	t.Run("mechanisms", func(t *testing.T) { mechanisms(t, tools) })
	t.Run("inside", func(t *testing.T) { inside(t, tools) })
	summary(t, c)
}

// recordAll records all kinds of traffic and checks the rows.
func recordAll(t *testing.T, tools, capture string) (*Capture, map[string]Errors) {
	t.Helper()
	logFile := filepath.Join(t.TempDir(), "log.json")
	record(t, tools, capture, logFile, traffic.Kinds())
	c, l := recorded(t, capture, logFile)
	for _, d := range l.Degraded {
		t.Logf("traffic: %s", d)
		if os.Getenv(guestEnv) != "" {
			t.Errorf("Debian's kernels allow all traffic, this one did not: %s", d)
		}
	}
	return c, Check(c, l, expected(t))
}

// recorded reads what a recording has, and what the traffic wrote down.
func recorded(t *testing.T, capture, logFile string) (*Capture, *traffic.Log) {
	t.Helper()
	c, err := Load(capture)
	if err != nil {
		t.Fatal(err)
	}
	l, err := traffic.Read(logFile)
	if err != nil {
		t.Fatal(err)
	}
	return c, l
}

// wrongRows is what the checks of rows say. What the account and the hooks say stands for
// itself: no second recording excuses it.
func wrongRows(results map[string]Errors) string {
	var all []string
	for _, name := range sortedNames(results) {
		for _, e := range results[name] {
			if name == "account" || name == "hooks" {
				return ""
			}
			all = append(all, fmt.Sprintf("%s: %s", name, e))
		}
	}
	return strings.Join(all, "; ")
}

// excuse is why a kernel may not show all events, "" if there is no reason known. Which events it hides is
// chance, so that another recording has those that this one lacks.
func excuse(c *Capture) string {
	switch {
	case preempted(c):
		return "this kernel passed over calls while their probe was preempted, and counted them"
	case os.Getenv(guestEnv) == "":
		return "a kernel that is not Debian's may run no probe in interrupts of some threads, see SECURITY.md"
	}
	return ""
}

// preempted reports a kernel that lets tasks take turns within the probes of system calls:
// calls on the same CPU are then passed over, and it is chance whose they are.
func preempted(c *Capture) bool {
	return slices.ContainsFunc(schema.Events, func(e schema.Event) bool {
		return strings.HasPrefix(e.Name, "sys_") && nested(c, e.Name) > 0
	})
}

func sortedNames(m map[string]Errors) []string {
	var names []string
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// record runs recorder and traffic of some kinds as a user would, in namespaces of their own.
func record(t *testing.T, tools, capture, logFile string, kinds []string, more ...string) {
	t.Helper()
	ns := namespaces(t, tools)
	args := []string{"--profile", "full", "-t", longest}
	if os.Getenv(guestEnv) == "" {
		args = append(args, "--netns", ns[0]) // on a machine with other work, only ours
	}
	rec, err := rig.Record(tools+"/netrec", capture, append(args, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	leave, err := drive(tools, "-seed", "7", "-kinds", strings.Join(kinds, ","), "-ns", strings.Join(ns, ","), "-log", logFile,
		fmt.Sprintf("-machine=%t", os.Getenv(guestEnv) != ""), fmt.Sprintf("-stay=%t", slices.Contains(more, "--io-stacks")))
	if err != nil {
		_, _, _ = rec.End(syscall.SIGKILL)
		t.Fatalf("traffic: %v\nrecord said:\n%s", err, rec.Said())
	}
	time.Sleep(300 * time.Millisecond) // interrupts are told when they end; a CPU may stand still in one that was counted
	// 4 means losses, which the account's check judges.
	if _, code, err := rec.End(syscall.SIGINT); err != nil || code != 0 && code != 4 {
		t.Fatalf("record: exit code %d, %v\n%s", code, err, rec.Said())
	}
	if err := leave(); err != nil {
		t.Fatalf("traffic: %v", err)
	}
	t.Logf("record said:\n%s", rec.Said())
}

// drive runs the traffic to its end. One that stays lives until it is told to leave: stacks
// get their names while the program is there, and a busy machine may take its time for that.
func drive(tools string, args ...string) (leave func() error, err error) {
	cmd := exec.Command(tools+"/traffic", args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == traffic.Done {
			return func() error { return errors.Join(in.Close(), cmd.Wait()) }, nil
		}
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, said.Bytes())
	}
	return func() error { return nil }, nil
}

// longest ends recorders whose test is gone; however slow the machine, the traffic is over
// before.
const longest = "1h"

// namespaces makes two network namespaces joined by a link in a guest; elsewhere one
// with loopback, which the recorder can filter for.
func namespaces(t *testing.T, tools string) []string {
	t.Helper()
	made++
	names := []string{fmt.Sprintf("nrtruth%d-%d", os.Getpid(), made)}
	if os.Getenv(guestEnv) != "" {
		names = append(names, names[0]+"b")
	}
	if b, err := exec.Command(tools+"/traffic", "-setup", "-ns", strings.Join(names, ",")).CombinedOutput(); err != nil {
		t.Fatalf("traffic -setup: %v: %s", err, b)
	}
	t.Cleanup(func() {
		for _, n := range names {
			_ = exec.Command("ip", "netns", "del", n).Run()
		}
	})
	return names
}

var made int // namespaces so far, to name them apart

// answers asks every analysis: each must have an answer from a real recording.
func answers(t *testing.T, tools, capture string, c *Capture) {
	busiest := map[int64]int{}
	var sock int64
	for _, r := range c.Rows {
		if s := r.Int["sock"]; s != 0 && r.Event == "tcp_rcv_est" {
			if busiest[s]++; busiest[s] > busiest[sock] {
				sock = s
			}
		}
	}
	list := []string{"overview", "socks", "tcpwin", "tcplife", "tcpstates", "socksize", "so1stbyte", "skblife", "skbdrop", "gethostlatency"}
	if !slices.Contains(expected(t).Missing, "tcp_write_xmit") {
		list = append(list, "tcpnagle")
	}
	args := append([]string{"analyze", "-f", "json", capture, "sock", fmt.Sprintf("%#x", uint64(sock))}, list...)
	out, err := exec.Command(tools+"/netrec", args...).Output()
	if err != nil {
		t.Fatalf("netrec %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	var got struct {
		Answers []struct {
			Analysis string
			Tables   []struct{ Rows []json.RawMessage }
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("netrec %s: %v", strings.Join(args, " "), err)
	}
	rows := map[string]int{}
	for _, a := range got.Answers {
		for _, table := range a.Tables {
			rows[a.Analysis] += len(table.Rows)
		}
	}
	for _, name := range append(list, "sock") {
		if rows[name] == 0 {
			t.Errorf("analysis %s has no answer", name)
		}
	}
}

// mechanisms records TCP's part of the traffic through each mechanism of the TCP events that
// this kernel has; the rows must not depend on it.
func mechanisms(t *testing.T, tools string) {
	if slices.Contains(expected(t).Missing, "tcp_write_xmit") {
		return // raw tracepoints are all there is
	}
	for _, kind := range []schema.Kind{schema.Fentry, schema.Kprobe} {
		dir := t.TempDir()
		capture, logFile := filepath.Join(dir, "m.parquet"), filepath.Join(dir, "log.json")
		var args []string
		for _, e := range []string{"tcp_state", "tcp_rcv_est", "tcp_write_xmit"} {
			args = append(args, "-e", e, "--hook", e+"="+string(kind))
		}
		record(t, tools, capture, logFile, []string{"tcp", "rst", "backlog", "close", "nagle", "loss"}, args...)
		c, err := Load(capture)
		if err != nil {
			t.Fatal(err)
		}
		l, err := traffic.Read(logFile)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range c.Meta.Hooks {
			if h.State == schema.HookMissing {
				t.Errorf("%s: event %s: no hook", kind, h.Event)
			}
		}
		run := ofRun(l)
		var nested int
		for _, n := range c.Meta.Losses {
			if n.Event == "tcp_state" {
				nested += int(n.Nested)
			}
		}
		if n, rows := both(l, "Tcp.ActiveOpens"), c.Select("tcp_state", run, Is("new_state", "SYN_SENT")); len(rows) > n || len(rows)+nested < n {
			t.Errorf("%s: %d changes to SYN_SENT and %d lost, the kernel counted %d", kind, len(rows), nested, n)
		}
		for _, e := range append(checkAccount(c, false), checkPackets(c, l, Expect{Missing: []string{"skb_alloc", "skb_consume", "skb_drop"}})...) {
			t.Errorf("%s: %s", kind, e)
		}
	}
}

func summary(t *testing.T, c *Capture) {
	n := map[string]int{}
	for _, r := range c.Rows {
		n[r.Event]++
	}
	t.Logf("rows: %v", n)
}
