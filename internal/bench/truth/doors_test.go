package truth

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"netrec/internal/bench/rig"
)

// Ports of testdata/doors.c.
const (
	doorWaited = 4801 + iota
	doorDatagram
	doorURing
	doorSQPoll
	doorCompat
	doorURingUDP
	doorRefused
)

var doorEvents = []string{"tcp_state", "sys_connect", "sys_accept", "sys_close", "sys_socket", "sys_read", "sock_io", "tcp_accept_fn"}

// TestDoors records connects, accepts, sends and receives by every door of the kernel, and
// calls that waited when the recording began.
func TestDoors(t *testing.T) {
	tools := needTools(t, "io_uring, 32-bit system calls, and calls that wait at the start")
	functions := expected(t).Functions
	ns, err := rig.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ns.Close)
	prog := exec.Command(tools + "/doors")
	in, err := prog.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := prog.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	prog.Stderr = &said
	if err := ns.Do(prog.Start); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = prog.Process.Kill() })
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("doors said %q, %v: %s", line, err, said.String())
	}
	capture := filepath.Join(t.TempDir(), "doors.parquet")
	rec, err := ns.Record(tools+"/netrec", capture, "-e", strings.Join(doorEvents, ","))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("go on\n")); err != nil {
		t.Fatal(err)
	}
	if line, err := lines.ReadString('\n'); err != nil || line != "done\n" {
		t.Fatalf("doors said %q, %v: %s", line, err, said.String())
	}
	if err := prog.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, code, err := rec.End(syscall.SIGINT); err != nil || code != 0 && code != 4 {
		t.Fatalf("record ended with %d: %v\n%s", code, err, rec.Said())
	}
	c, err := Load(capture)
	if err != nil {
		t.Fatal(err)
	}
	checkDoorRows(t, c, functions)
	checkDoorBytes(t, c, functions)
	checkDoorAnswers(t, tools, capture, functions)
}

// checkDoorRows: one row for each call, whatever door it came by.
func checkDoorRows(t *testing.T, c *Capture, functions bool) {
	t.Helper()
	type calls struct {
		port       int64
		door       string
		connects   int
		accepts    int
		byFunction bool // no change of state tells of it
	}
	for _, w := range []calls{{doorWaited, "syscall", 3, 3, false}, {doorURing, "io_uring", 5, 5, false}, {doorSQPoll, "io_uring", 4, 4, false},
		{doorCompat, "compat", 7, 7, false}, {doorURingUDP, "io_uring", 1, 0, true}, {doorRefused, "io_uring", 1, 0, false}} {
		if !functions {
			if w.byFunction {
				w.connects = 0
			}
			if w.door != "syscall" {
				w.accepts = 0
			}
		}
		connects := c.Select("sys_connect", Num("dest_port", w.port))
		accepts := c.Select("sys_accept", Num("lport", w.port), func(r *Row) bool { return r.Int["sock"] != 0 })
		if len(connects) != w.connects || len(accepts) != w.accepts {
			t.Errorf("port %d: %d connects and %d accepts, want %d and %d", w.port, len(connects), len(accepts), w.connects, w.accepts)
		}
		for _, r := range append(connects, accepts...) {
			_, fd := r.Int["fd"]
			if _, ret := r.Int["ret"]; w.door == "io_uring" && (fd || ret && r.Event == "sys_accept") {
				t.Errorf("port %d: %s has a descriptor that io_uring does not show", w.port, r.Event)
			}
			if r.Str["door"] != w.door || r.Str["comm"] != "doors" {
				t.Errorf("port %d: %s by door %s of %s, want %s of doors", w.port, r.Event, r.Str["door"], r.Str["comm"], w.door)
			}
		}
	}
	// The calls that waited have no duration; there was one of each.
	noDuration := func(r *Row) bool { _, ok := r.Int["dur_ns"]; return !ok && r.Str["comm"] == "doors" }
	for event, n := range map[string]int{"sys_accept": 1, "sys_read": 1} {
		if got := c.Select(event, noDuration, func(r *Row) bool { return r.Str["door"] != "io_uring" }); len(got) != n {
			t.Errorf("%d rows of %s without a duration, want %d", len(got), event, n)
		}
	}
}

// checkDoorBytes: what io_uring sends and raw IPv6 receives has rows.
func checkDoorBytes(t *testing.T, c *Capture, functions bool) {
	t.Helper()
	for port, conns := range map[int64]int64{doorURing: 5, doorSQPoll: 4} {
		var sent, received int64
		for _, r := range c.Select("sock_io", func(r *Row) bool { return r.Int["ret"] > 0 }) {
			switch {
			case r.Int["rport"] == port && r.Str["dir"] == "send":
				sent += r.Int["ret"]
			case r.Int["lport"] == port && r.Str["dir"] == "recv":
				received += r.Int["ret"]
			}
		}
		if want := conns * 263; sent != want || received != want {
			t.Errorf("port %d: %d bytes sent and %d received, want %d", port, sent, received, want)
		}
	}
	// A raw socket on the loopback also gets its own requests.
	if got := c.Select("sock_io", Is("prot_name", "RAWv6"), Is("dir", "recv")); len(got) != 6 {
		t.Errorf("%d receives of raw IPv6, want 6", len(got))
	}
	var datagrams int64
	for _, r := range c.Select("sock_io", Num("lport", doorDatagram), Is("dir", "recv")) {
		datagrams += r.Int["ret"]
	}
	if byTracepoint := len(c.Select("sock_io")) > 0 && !usesFunctions(c, "sock_io"); byTracepoint && datagrams != 1110 || !byTracepoint && datagrams != 1100 {
		t.Errorf("%d bytes received by datagrams", datagrams)
	}
}

func usesFunctions(c *Capture, event string) bool {
	for _, h := range c.Meta.Hooks {
		if h.Event == event {
			return strings.Contains(strings.Join(h.Hooks, " "), "fexit:")
		}
	}
	return false
}

// checkDoorAnswers: answers have all, or say what they lack.
func checkDoorAnswers(t *testing.T, tools, capture string, functions bool) {
	t.Helper()
	ask := func(args ...string) string {
		b, err := exec.Command(tools+"/netrec", append([]string{"analyze", capture}, args...)...).CombinedOutput()
		if err != nil {
			t.Errorf("analyze %v: %v\n%s", args, err, b)
		}
		return string(b)
	}
	contain := func(text string, wants ...string) {
		t.Helper()
		for _, w := range wants {
			if !strings.Contains(text, w) {
				t.Errorf("no %q in:\n%s", w, text)
			}
		}
	}
	if functions {
		contain(ask("acceptcount", "--by", "comm"), "@[doors]: 19")
		contain(ask("conncount", "--by", "comm"), "@[doors]: 21")
		contain(ask("tcpaccept"), "19 accepts")
		contain(ask("tcpacceptcount", "--by", "comm"), "@[doors]: 19")
	} else {
		contain(ask("acceptcount", "--by", "comm"), "@[doors]: 3", "not seen, no hook attached: accepts by 32-bit programs, accepts by io_uring", "missing: at least 16 TCP accepts")
		contain(ask("conncount", "--by", "comm"), "@[doors]: 20", "not seen, no hook attached: connects by io_uring or 32-bit programs that are not TCP's")
	}
	for _, a := range []string{"tcplife", "tcpaccept", "soaccept"} {
		if text := ask(a); strings.Contains(text, "iou-sqp") {
			t.Errorf("a thread of io_uring owns a session:\n%s", text)
		}
	}
	if text := ask("sockbytes"); strings.Contains(text, "fexit:") {
		contain(text, fmt.Sprintf("missing up to %d receives that were already waiting when the recording began", 1))
	}
}
