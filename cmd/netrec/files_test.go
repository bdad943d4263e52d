package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netrec/analyze/scan"
	"netrec/record/capture"
	"netrec/record/encode"
	"netrec/schema"
)

// change is a TCP socket's change of state, at a time in milliseconds.
type change struct {
	ms       int64
	from, to string
	lport    uint16
}

// session is a connection from one time to another.
func session(from, to int64, lport uint16) []change {
	return []change{{from, "CLOSE", "SYN_SENT", lport}, {from + 1, "SYN_SENT", "ESTABLISHED", lport},
		{to - 1, "ESTABLISHED", "FIN_WAIT1", lport}, {to, "FIN_WAIT1", "CLOSE", lport}}
}

// sameSock is the address of every socket in these files: only their origin tells them apart.
const sameSock = 0xffff888000001000

// partOf is where a file belongs.
type partOf struct {
	host, boot, id string
	index          int
	end            string
}

// writePart makes a capture of changes, which may be in any order.
func writePart(t *testing.T, path string, p partOf, changes ...change) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	w, err := capture.Create(path, false, "netrec test")
	must(t, err)
	const wall = int64(1_700_000_000_000_000_000)
	rec := schema.Recording{Events: []string{"tcp_state"}, End: p.end, StartNS: wall, Part: &schema.Part{ID: p.id, Index: p.index, BeganNS: wall}}
	must(t, w.Set(schema.KeyRecording, rec))
	must(t, w.Set(schema.KeyHost, schema.Host{Name: p.host, BootID: p.boot, CPUs: 1}))
	must(t, w.Set(schema.KeyHooks, []schema.EventHooks{{Event: "tcp_state", State: schema.HookAttached, Hooks: []string{"raw_tp:inet_sock_set_state"}}}))
	n := int64(len(changes))
	must(t, w.Set(schema.KeyLosses, []schema.Count{{Event: "tcp_state", Generated: n + 7, Recorded: n, Ring: 7}}))
	states := map[string]uint8{}
	for v := range uint8(14) {
		states[schema.TCPStates.Lookup(int64(v))] = v
	}
	e := schema.ByName("tcp_state")
	var data []byte
	for i, c := range changes {
		row := schema.TCPState{Header: schema.Header{TS: uint64(c.ms * 1e6), Seq: uint64(i), Event: e.ID, Sock: sameSock, Pid: 7, Netns: 1},
			Protocol: unix.IPPROTO_TCP, OldState: states[c.from], NewState: states[c.to]}
		row.Lport, row.Rport, row.Family = c.lport, 443, unix.AF_INET
		row.Laddr[0], row.Raddr[0] = 10, 11
		copy(row.Comm[:], "curl")
		data, err = binary.Append(data, binary.LittleEndian, row)
		must(t, err)
	}
	must(t, w.Add(encode.New(oddNames{}, wall), encode.Batch{Event: e, Data: data}))
	must(t, w.Close())
}

// answerOf is an answer in the JSON of analyze.
type answerOf struct {
	Analysis string
	On       string `json:"recorded_on"`
	Limits   []string
	Tables   []struct {
		Rows []map[string]any
	}
}

func analyzed(t *testing.T, args ...string) (answers []answerOf, code int, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(append(append([]string{"analyze"}, args...), "-f", "json"), &out, &errs)
	var doc struct{ Answers []answerOf }
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, &out, &errs)
	}
	return doc.Answers, code, errs.String()
}

// lives lists the sessions of an answer as host, port and milliseconds.
func lives(answers []answerOf) (out []string) {
	for _, a := range answers {
		for _, table := range a.Tables {
			for _, r := range table.Rows {
				out = append(out, fmt.Sprintf("%s %v %v", r["recorded_on"], r["lport"], r["ms"]))
			}
		}
	}
	return out
}

// TestSeveralFiles: a connection that lasts over several files of one recording is one;
// equal addresses of other hosts and boots, and on both sides of a missing file, are not.
func TestSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	web1 := partOf{"web1", "boot1", "A", 1, schema.EndNext}
	long, short := session(10, 3000, 1001), session(1900, 2900, 1002)
	// The recorder drains CPUs one after the other, so files overlap a little in time.
	writePart(t, in("dt=2026-11-15/host=web1/b.parquet"), web1, long[0], long[2])
	web1.index = 2
	writePart(t, in("dt=2026-11-15/host=web1/a.parquet"), web1, long[1])
	web1.index, web1.end = 3, "signal"
	writePart(t, in("dt=2026-11-16/host=web1/c.parquet"), web1, long[3])
	writePart(t, in("dt=2026-11-15/host=web2/a.parquet"), partOf{"web2", "boot2", "B", 1, "signal"}, short...)
	writePart(t, in("dt=2026-11-15/host=web1/reboot.parquet"), partOf{"web1", "boot3", "C", 1, "signal"}, session(5, 25, 1003)...)

	answers, code, stderr := analyzed(t, dir, "tcplife")
	if got, want := strings.Join(lives(answers), "; "), "web1 1003 20; web1 1001 2990; web2 1002 1000"; got != want || code != 0 || stderr != "" {
		t.Errorf("%s, want %s; exit code %d %s", got, want, code, stderr)
	}
	if len(answers) != 3 || answers[2].On != "web2" || !strings.Contains(strings.Join(answers[1].Limits, "\n"), "lost 21 of 25 tcp_state events") {
		t.Errorf("%+v", answers)
	}
	for _, pattern := range []string{in("*/*/*.parquet"), in("dt=*"), in("dt=2026-11-15") + "/../*/host=web?"} {
		again, code, _ := analyzed(t, "tcplife", pattern)
		if strings.Join(lives(again), "; ") != strings.Join(lives(answers), "; ") || code != 0 {
			t.Errorf("%s: %v, exit code %d", pattern, lives(again), code)
		}
	}

	if one, _, _ := analyzed(t, in("dt=2026-11-15/host=web2"), "tcplife"); strings.Join(lives(one), "; ") != "web2 1002 1000" {
		t.Errorf("a directory of one file: %v", lives(one))
	}
	if one, _, _ := analyzed(t, in("dt=2026-11-15/host=web2/a.parquet"), "tcplife"); strings.Join(lives(one), "; ") != "%!s(<nil>) 1002 1000" {
		t.Errorf("a file: %v", lives(one))
	}

	// The state of a service with a user of its own is behind a link.
	link := filepath.Join(t.TempDir(), "netrec")
	must(t, os.Symlink(dir, link))
	for _, name := range []string{link, link + "/"} {
		if linked, code, stderr := analyzed(t, name, "tcplife"); len(lives(linked)) != 3 || code != 0 {
			t.Errorf("%s, a link to the directory: %v, exit code %d %s", name, lives(linked), code, stderr)
		}
	}

	must(t, os.Remove(in("dt=2026-11-15/host=web1/a.parquet")))
	answers, _, _ = analyzed(t, in("dt=2026-11-15/host=web1"), in("dt=2026-11-16"), "tcplife")
	if len(answers) != 3 || !strings.Contains(strings.Join(answers[1].Limits, "\n"), "goes on in a further file") ||
		!strings.Contains(strings.Join(answers[2].Limits, "\n"), "began in 2 files before") {
		t.Errorf("with a part missing: %+v", answers)
	}
}

// TestReportOfSeveralFiles: a page is of a recording, whose commands can be run, or of several, which it names.
func TestReportOfSeveralFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	long := session(10, 3000, 1001)
	writePart(t, "caps/a.parquet", partOf{"web1", "boot1", "A", 1, schema.EndNext}, long[:2]...)
	writePart(t, "caps/b.parquet", partOf{"web1", "boot1", "A", 2, "signal"}, long[2:]...)
	if out, errs, code := said("report", "caps"); code != 0 || !strings.HasPrefix(out, "caps.html: ") {
		t.Fatalf("exit code %d, %s%s", code, out, errs)
	}
	page, err := os.ReadFile("caps.html")
	must(t, err)
	if n := bytes.Count(page, []byte("netrec analyze caps tcpwin --sock ")) + bytes.Count(page, []byte("<code>netrec analyze caps ")); n < 5 || bytes.Contains(page, []byte("more&#39; ")) {
		t.Errorf("%d commands name the folder", n)
	}
	writePart(t, "caps/c.parquet", partOf{"web2", "boot2", "B", 1, "signal"}, long...)
	if out, errs, code := said("report", "caps", "-o", "both.html"); code != 0 || !strings.HasPrefix(out, "both.html: ") {
		t.Fatalf("two recordings: exit code %d, %s%s", code, out, errs)
	}
	page, err = os.ReadFile("both.html")
	must(t, err)
	for _, want := range []string{"<h1>netrec: 2 recordings</h1>", `<b class="of">web1</b>`, `<b class="of">web2</b>`, `"name":"web2: sent"`} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("two recordings: the page lacks %s", want)
		}
	}
	for i := range mostRecordings {
		writePart(t, fmt.Sprintf("caps/d%d.parquet", i), partOf{fmt.Sprint("db", i), "boot3", "C", 1, "signal"}, long...)
	}
	if _, errs, code := said("report", "caps"); code != 1 || !strings.Contains(errs, "files of 18 recordings, want at most 16") {
		t.Errorf("many recordings: exit code %d, %s", code, errs)
	}
}

// TestUnreadableAmongMany: what cannot be read is said, what can is answered, and the
// exit code tells.
func TestUnreadableAmongMany(t *testing.T) {
	dir := t.TempDir()
	whole := partOf{"h", "b", "A", 1, "signal"}
	writePart(t, filepath.Join(dir, "a.parquet"), whole, session(5, 25, 1003)...)
	b, err := os.ReadFile(filepath.Join(dir, "a.parquet"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "copy.parquet"), b, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "bad\x1b[31m.parquet"), []byte("PAR1 no capture"), 0o600))
	must(t, os.Symlink("a.parquet", filepath.Join(dir, "link.parquet")))
	must(t, os.WriteFile(filepath.Join(dir, ".hidden.parquet"), nil, 0o600))
	answers, code, stderr := analyzed(t, dir, "tcplife")
	if strings.Join(lives(answers), "; ") != "h 1003 20" || code != codeUnreadable {
		t.Errorf("%v, exit code %d", lives(answers), code)
	}
	for _, want := range []string{`bad\x1b[31m.parquet: damaged`, "copy.parquet: the same part of the recording as"} {
		if !strings.Contains(stderr, want) || strings.Contains(stderr, "\x1b") {
			t.Errorf("no %q in %q", want, stderr)
		}
	}
}

// TestHundredsOfFiles: every row of a recording in hundreds of files arrives in the order
// of time, with two of them open at the most.
func TestHundredsOfFiles(t *testing.T) {
	const files = 307
	dir := t.TempDir()
	var paths []string
	for i := range files {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("%d.parquet", i)))
		at := int64(10 * i)
		writePart(t, paths[i], partOf{"h", "b", "A", i + 1, schema.EndNext}, change{at, "CLOSE", "SYN_SENT", 1}, change{at + 11, "SYN_SENT", "CLOSE", 1})
	}
	before := openFiles(t)
	all, bad := scan.OpenAll(paths, scan.Options{})
	if len(all) != 1 || len(bad) > 0 || all[0].Files() != files {
		t.Fatalf("%d recordings, %v", len(all), bad)
	}
	must(t, all[0].Load())
	defer all[0].Close()
	rows, last, most := 0, int64(0), 0
	must(t, all[0].Scan(scan.Query{}, func(r *scan.Row) error {
		if r.TS < last {
			t.Errorf("row %d at %d after %d", rows, r.TS, last)
		}
		rows, last, most = rows+1, r.TS, max(most, openFiles(t))
		return nil
	}))
	if rows != 2*files || most-before > 3 {
		t.Errorf("%d rows, want %d; %d files were open at once", rows, 2*files, most-before)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

// TestHundredsOfHosts: each has its answer, one after the other.
func TestHundredsOfHosts(t *testing.T) {
	const hosts = 211
	dir := t.TempDir()
	for i := range hosts {
		writePart(t, filepath.Join(dir, fmt.Sprintf("host=h%03d", i), "a.parquet"), partOf{fmt.Sprintf("h%03d", i), "b", "A", 1, "signal"}, session(5, 25+int64(i), 80)...)
	}
	answers, code, stderr := analyzed(t, dir, "tcplife", "tcpstates")
	got := lives(answers)
	if len(answers) != 2*hosts || code != 0 || stderr != "" || got[0] != "h000 80 20" || answers[2*hosts-1].On != "h210" {
		t.Errorf("%d answers, exit code %d %s, %q", len(answers), code, stderr, got[:3])
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(fds)
}
