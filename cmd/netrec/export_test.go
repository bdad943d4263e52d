package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"netrec/analyze/scan"
)

// exported writes the sample in a form and returns the paths of both.
func exported(t *testing.T, to string, args ...string) (out, capture string) {
	t.Helper()
	dir := t.TempDir()
	out, capture = filepath.Join(dir, "out"), filepath.Join(dir, "cap.parquet")
	must(t, os.WriteFile(capture, sample, 0o600))
	var stdout, stderr bytes.Buffer
	if code := run(append([]string{"export", capture, "--to", to, "-o", out}, args...), &stdout, &stderr); code != 0 || stdout.Len() > 0 {
		t.Fatalf("export --to %s: exit code %d\n%s%s", to, code, &stdout, &stderr)
	}
	return out, capture
}

// TestExportsAgree holds exports against the capture in programs of others.
func TestExportsAgree(t *testing.T) {
	needPython(t)
	for _, to := range []string{"arrow", "perfetto"} {
		t.Run(to, func(t *testing.T) {
			out, capture := exported(t, to)
			said, err := exec.Command(os.Getenv("NETREC_PYTHON"), interopDir+"exports.py", to, out, capture).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			t.Logf("%s", said)
		})
	}
}

// flamegraph is Brendan Gregg's program where Debian puts it.
const flamegraph = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"

// TestFlameGraph lets flamegraph.pl draw the stacks of an event: it takes every line, and
// its picture has as many samples as the capture has rows.
func TestFlameGraph(t *testing.T) {
	out, capture := exported(t, "folded", "--event", "cpu_sample")
	f, err := scan.Open(capture, scan.Options{})
	must(t, err)
	defer f.Close()
	want, sum := f.Meta().Rows["cpu_sample"], int64(0)
	folded, err := os.ReadFile(out)
	must(t, err)
	for line := range strings.Lines(string(folded)) {
		stack, count, ok := cutLast(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(count, 10, 64)
		if !ok || err != nil || !strings.Contains(stack, ";") {
			t.Fatalf("line %q", line)
		}
		sum += n
	}
	if sum != want || sum == 0 {
		t.Errorf("%d samples in stacks, %d rows", sum, want)
	}
	if _, err := os.Stat(flamegraph); err != nil {
		t.Skip("flamegraph.pl is not here: whether it takes the file is left out; Debian has it in libdevel-nytprof-perl")
	}
	svg, err := exec.Command("perl", flamegraph, out).Output()
	must(t, err)
	all := regexp.MustCompile(`all \(([0-9,]+) samples, 100%\)`).FindSubmatch(svg)
	if all == nil || strings.ReplaceAll(string(all[1]), ",", "") != strconv.FormatInt(want, 10) {
		t.Errorf("the picture has %q, want %d samples", all, want)
	}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func TestExportMistakes(t *testing.T) {
	dir := t.TempDir()
	capture := filepath.Join(dir, "cap.parquet")
	must(t, os.WriteFile(capture, sample, 0o600))
	other := filepath.Join(dir, "other")
	must(t, os.WriteFile(other, nil, 0o600))
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"--to arow", 1, "did you mean arrow?"},
		{"", 1, "want one of arrow, perfetto, folded"},
		{"--to folded --event skb_dropp", 1, "did you mean skb_drop?"},
		{"--to folded --event tcp_state", 1, "those that have: "},
		{"--to perfetto --event tcp_state", 1, "--event"},
		{"--to arrow -o " + other, 1, "file exists"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(append([]string{"export", capture}, strings.Fields(tt.args)...), &stdout, &stderr)
		if code != tt.code || !strings.Contains(stderr.String(), tt.want) || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d\n%s", tt.args, code, &stderr)
		}
	}
}
