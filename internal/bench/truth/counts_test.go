package truth

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"netrec/internal/bench/vmtest/traffic"
)

// countedTPs and countedFuncs are what is counted beside events that have a row for each
// of the same; the functions run in tasks, so that none of them is passed over.
var (
	countedTPs   = map[string]string{"sock:inet_sock_set_state": "tcp_state", "tcp:tcp_probe": "tcp_rcv_est"}
	countedFuncs = []string{"tcp_v4_connect", "tcp_v6_connect", "tcp_sendmsg", "tcp_recvmsg"}
)

// counts records how often functions and tracepoints were passed, and holds that against
// the rows of the events that sit at the same places and against the kernel's own counts.
// Of sends and receives it records the stacks.
func counts(t *testing.T, tools string) {
	var w *witness
	if os.Getenv(guestEnv) != "" {
		w = newWitness(t)
	}
	capture := filepath.Join(t.TempDir(), "counts.parquet")
	args := []string{"-e", "tcp_state,tcp_rcv_est", "--io-stacks", "--count-tp", "sock:inet_sock_*", "--count-tp", "tcp:*"}
	if !slices.Contains(expected(t).Missing, "func_count") {
		args = append(args, "-e", "tcp_connect_fn,tcp_msg", "--count-func", "tcp_v[46]_connect", "--count-func", "tcp_sendmsg*,tcp_recvmsg*")
	}
	logFile := capture + ".json"
	record(t, tools, capture, logFile, []string{"tcp", "rst"}, args...)
	c, l := recorded(t, capture, logFile)
	for _, e := range checkAccount(c, true) {
		t.Error(e)
	}
	got := sums(t, c)
	compareRows(t, c, l, got, w == nil)
	compareStacks(t, c, l)
	if w != nil {
		w.compare(t, got)
	}
	t.Logf("counted: %v", got)
}

// compareRows holds sums against rows. Where others use TCP too, only our namespace has
// rows, and the counts of the whole machine may be more.
func compareRows(t *testing.T, c *Capture, l *traffic.Log, got map[string]int, others bool) {
	t.Helper()
	for tp, event := range countedTPs {
		rows := len(c.Select(event))
		hidden := nested(c, event) + nested(c, "tp_count")
		if n := got[tp]; n < rows-hidden || !others && n > rows+hidden || rows == 0 {
			t.Errorf("tp_count: %d of %s, %s has %d rows", n, tp, event, rows)
		}
	}
	if slices.Contains(expected(t).Missing, "func_count") {
		return
	}
	for _, fn := range countedFuncs {
		event := "tcp_msg"
		if strings.HasSuffix(fn, "connect") {
			event = "tcp_connect_fn"
		}
		rows := len(c.Select(event, Is("func", fn)))
		if fn == "tcp_v4_connect" { // called by the other for mapped addresses, where the event has the caller only
			rows += l.Wanted["tcpmapped"]
		}
		if got[fn] != rows || rows == 0 {
			t.Errorf("func_count: %d of %s, %s has %d rows", got[fn], fn, event, rows)
		}
	}
}

// compareStacks: every send and receive of the log has a stack that leads through the
// program that made it.
func compareStacks(t *testing.T, c *Capture, l *traffic.Log) {
	t.Helper()
	hidden := nested(c, "sock_stack")
	for _, e := range checkIO(c, l, "sock_stack") {
		if hidden == 0 {
			t.Error(e)
		}
	}
	rows, calls := c.Select("sock_stack", ofThread(l)), len(ioWants(l, ""))
	if len(rows)+hidden < calls || calls == 0 {
		t.Errorf("sock_stack: %d rows for %d calls, %d passed over", len(rows), calls, hidden)
	}
	for _, r := range rows {
		if s := r.Str["ustack"]; !strings.Contains(s, "main.main+") || !strings.Contains(s, "/traffic.") {
			t.Errorf("sock_stack: %s of %d: stack %q", r.Str["dir"], r.Int["ret"], s)
		}
	}
}

// sums adds up the counts of all CPUs. The last total of each CPU must be what its rows
// add up to.
func sums(t *testing.T, c *Capture) map[string]int {
	t.Helper()
	got := map[string]int{}
	perCPU, last := map[string]int64{}, map[string]int64{}
	for _, r := range c.Rows {
		if r.Event != "func_count" && r.Event != "tp_count" {
			continue
		}
		key := fmt.Sprint(r.Str["symbol"], " on CPU ", r.Int["cpu"])
		got[r.Str["symbol"]] += int(r.Int["count"])
		perCPU[key] += r.Int["count"]
		last[key] = r.Int["count_total"]
		if r.Int["count"] <= 0 || r.Int["window_ns"] <= 0 {
			t.Errorf("%s: %d in %d ns", key, r.Int["count"], r.Int["window_ns"])
		}
	}
	for key, n := range perCPU {
		if n != last[key] {
			t.Errorf("%s: rows add up to %d, the last says %d", key, n, last[key])
		}
	}
	return got
}

// witness is the kernel's own counting: events of perf for tracepoints, and the profile of
// kprobes that tracefs keeps.
type witness struct {
	dir  string
	perf map[string][]int // an event for each CPU
}

const witnessGroup = "netrec_witness"

func newWitness(t *testing.T) *witness {
	t.Helper()
	w := &witness{"/sys/kernel/tracing", map[string][]int{}}
	if _, err := os.Stat(w.dir + "/events"); err != nil {
		if err := unix.Mount("tracefs", w.dir, "tracefs", 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	for tp := range countedTPs {
		w.perf[tp] = w.open(t, tp)
	}
	for _, fn := range countedFuncs {
		w.write(t, "kprobe_events", fmt.Sprintf("p:%s/%s %s", witnessGroup, fn, fn))
	}
	w.write(t, "events/"+witnessGroup+"/enable", "1")
	t.Cleanup(func() {
		w.write(t, "events/"+witnessGroup+"/enable", "0")
		for _, fn := range countedFuncs {
			w.write(t, "kprobe_events", "-:"+witnessGroup+"/"+fn)
		}
	})
	return w
}

// open counts a tracepoint on every CPU of a guest.
func (w *witness) open(t *testing.T, tp string) []int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "events", strings.Replace(tp, ":", "/", 1), "id"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var fds []int
	for cpu := range runtime.NumCPU() {
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}
		fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			t.Fatalf("counting %s on CPU %d: %v", tp, cpu, err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		fds = append(fds, fd)
	}
	return fds
}

// write appends, as tracefs wants it for lists.
func (w *witness) write(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(w.dir, file), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatalf("writing %q: %v", text, err)
	}
}

func (w *witness) compare(t *testing.T, got map[string]int) {
	t.Helper()
	for tp, fds := range w.perf {
		n := 0
		for _, fd := range fds {
			var count [8]byte
			if _, err := unix.Read(fd, count[:]); err != nil {
				t.Fatal(err)
			}
			n += int(binary.NativeEndian.Uint64(count[:]))
		}
		if n != got[tp] {
			t.Errorf("tp_count: %d of %s, perf counted %d", got[tp], tp, n)
		}
	}
	text, err := os.ReadFile(filepath.Join(w.dir, "kprobe_profile"))
	if err != nil {
		t.Fatal(err)
	}
	hits := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 {
			hits[f[0]] = f[1]
		}
	}
	for _, fn := range countedFuncs {
		if hits[fn] != strconv.Itoa(got[fn]) {
			t.Errorf("func_count: %d of %s, the kernel's profile has %s", got[fn], fn, hits[fn])
		}
	}
}
