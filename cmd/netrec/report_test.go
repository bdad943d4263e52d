package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netrec/internal/bench/synth"
)

func TestReport(t *testing.T) {
	file, dir := filepathOfSample(t), t.TempDir()
	t.Chdir(dir)
	junk := filepath.Join(dir, "junk.parquet")
	if err := os.WriteFile(junk, []byte("PAR1 this is no capture PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{file}, 0, "sample.html: ", ""},
		{[]string{file, "-o", "other.html", "--port", "9", "--threshold", "slow-dns=1s,drops=100"}, 0, "other.html: ", ""},
		{[]string{file, "--threshold", "slow-dsn=1s"}, 1, "", "netrec: option --threshold: no rule \"slow-dsn\"\nnetrec: hint: did you mean slow-dns?\n"},
		{[]string{file, "--port", "http"}, 1, "", "option --port"},
		{[]string{file, "-o", "none/other.html"}, 1, "", "write the page: open none/other.html"},
		{[]string{junk}, 2, "", "junk.parquet: damaged capture"},
		{[]string{file, junk}, 2, "", "junk.parquet: damaged capture"},
		{nil, 1, "", "requires at least 1 arg"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(append([]string{"report"}, tt.args...), &stdout, &stderr)
		if code != tt.code || !strings.Contains(stdout.String(), tt.stdout) || !strings.Contains(stderr.String(), tt.stderr) {
			t.Errorf("%q: exit code %d, want %d\n%s\n%s", tt.args, code, tt.code, &stdout, &stderr)
		}
	}
	all, err := os.ReadFile("sample.html")
	if err != nil {
		t.Fatal(err)
	}
	some, err := os.ReadFile("other.html")
	if err != nil {
		t.Fatal(err)
	}
	const drops = "packets dropped: QDISC_DROP"
	if !bytes.Contains(all, []byte(drops)) || bytes.Contains(some, []byte(drops)) {
		t.Error("a selection and a threshold do not change the page")
	}
	for _, cmd := range []string{" eventrates --port 9<", " skbdrop --port 9<"} {
		if !bytes.Contains(some, []byte(cmd)) {
			t.Errorf("no command %s for what was selected", cmd)
		}
	}
}

// A page can be made of every event, of values at and beyond the edges, and of files that
// nobody finished.
func TestReportOfOddCaptures(t *testing.T) {
	odd := writeOddCapture(t)
	full := filepath.Join(t.TempDir(), "synth.parquet")
	_, err := synth.Write(full, synth.Options{Rows: 150_000, Seed: 1})
	must(t, err)
	t.Chdir(t.TempDir())
	for _, path := range []string{odd.finished, odd.running, odd.cut, full} {
		var out, errs bytes.Buffer
		if code := run([]string{"report", path, "-o", "page.html"}, &out, &errs); code != 0 {
			t.Fatalf("%s: exit code %d: %s", path, code, errs.String())
		}
		page, err := os.ReadFile("page.html")
		must(t, err)
		if !bytes.HasSuffix(bytes.TrimSpace(page), []byte("</html>")) || len(page) > 5<<20 || bytes.ContainsAny(page, "\x1b\x00\u202e") {
			t.Errorf("%s: a page of %d bytes that is not whole, too large or has bytes that steer", path, len(page))
		}
	}
}
