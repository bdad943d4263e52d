package record_test

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netrec/analyze/scan"
	"netrec/internal/bench/rig"
)

// The cost is of the recording, from its first moment to its last: what attaching took is not in
// it, and nothing that the kernel does not account to the recorder. What is said at the end is
// what the file says.
func TestCostOfTheRecording(t *testing.T) {
	b := newBench(t, "the recorder's account of its own cost")
	path := filepath.Join(t.TempDir(), "cap.parquet")
	load, err := b.ns.StartLoad(rig.Rates{Datagrams: 5_003, Rounds: 997, Connects: 5})
	must(t, err)
	rec, err := b.ns.Record(b.bin, path, append(loadOnly, "-t", "2s", "--packets", "none")...)
	must(t, err)
	code := rec.Wait()
	_, err = load.Stop()
	must(t, err)
	if code != 0 && code != 4 {
		t.Fatalf("exit code %d\n%s", code, rec.Said())
	}
	meta, notes := costNotes(t, path)
	if len(notes) < 3 {
		t.Fatalf("%d rows of event cost in two seconds", len(notes))
	}
	first, last := notes[0], notes[len(notes)-1]
	if first.ts != meta.Recording.StartNS || last.ts != meta.Recording.StopNS {
		t.Errorf("the recorder noted its cost from %d to %d, the recording is from %d to %d", first.ts, last.ts, meta.Recording.StartNS, meta.Recording.StopNS)
	}
	if used := rec.Used(); first.cpu <= 0 || last.cpu <= first.cpu || last.cpu > used {
		t.Errorf("noted %s of CPU at the start and %s at the end; the kernel has %s for the process", first.cpu, last.cpu, used)
	}
	said := costLine(rec.Said(), "cost: ")
	out, err := exec.Command(b.bin, "analyze", path, "overview", "--all", "--brief").CombinedOutput()
	must(t, err)
	shown := costLine(string(out), "  cost ")
	cpu, written := cutLast(said)
	if shownCPU, shownWritten := cutLast(shown); cpu == "" || shownCPU != cpu || math.Abs(rate(t, shownWritten)/rate(t, written)-1) > 0.1 { // disks give whole blocks
		t.Errorf("record said %q, overview %q", said, shown)
	}
	for _, word := range []string{"recorder ", " of the host's CPU time", "/s written"} {
		if !strings.Contains(said, word) {
			t.Errorf("%q does not say %q", said, word)
		}
	}
}

// costNote is the recorder's CPU time at a moment.
type costNote struct {
	ts  int64
	cpu time.Duration
}

func costNotes(t *testing.T, path string) (*scan.Meta, []costNote) {
	t.Helper()
	f, err := scan.Open(path, scan.Options{})
	must(t, err)
	defer f.Close()
	user, sys := scan.MustInt("user_ns"), scan.MustInt("sys_ns")
	var notes []costNote
	must(t, f.Scan(scan.Query{Events: []string{"cost"}}, func(r *scan.Row) error {
		notes = append(notes, costNote{r.TS, time.Duration(r.Int(user) + r.Int(sys))})
		return nil
	}))
	return f.Meta(), notes
}

// costLine is what follows the word at the start of a line.
func costLine(text, word string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, word); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// cutLast takes the last part off what a recording cost, the bytes.
func cutLast(s string) (before, last string) {
	i := strings.LastIndex(s, ", ")
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+2:]
}

// rate is the number of "368.9 kB/s written", in the same unit for all of a recording.
func rate(t *testing.T, s string) float64 {
	t.Helper()
	var n float64
	var unit string
	if _, err := fmt.Sscanf(s, "%f %s", &n, &unit); err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	for prefix, times := range map[string]float64{"kB": 1e3, "MB": 1e6} {
		if strings.HasPrefix(unit, prefix) {
			n *= times
		}
	}
	return n
}
