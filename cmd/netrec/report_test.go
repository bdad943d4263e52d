package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		{[]string{file, "-o", "other.html", "--port", "45251", "--threshold", "slow-dns=1s,drops=100"}, 0, "other.html: ", ""},
		{[]string{file, "--threshold", "slow-dsn=1s"}, 1, "", "netrec: option --threshold: no rule \"slow-dsn\"\nnetrec: hint: did you mean slow-dns?\n"},
		{[]string{file, "--port", "http"}, 1, "", "option --port"},
		{[]string{file, "-o", "none/other.html"}, 1, "", "write the page: open none/other.html"},
		{[]string{junk}, 2, "", "junk.parquet: damaged capture"},
		{nil, 1, "", "accepts 1 arg"},
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
	const lookups = "looking up localhost took"
	if !bytes.Contains(all, []byte(lookups)) || bytes.Contains(some, []byte(lookups)) {
		t.Error("a selection and a threshold do not change the page")
	}
}
