package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnalyzeExitCodes(t *testing.T) {
	junk := filepath.Join(t.TempDir(), "junk.parquet")
	if err := os.WriteFile(junk, []byte("PAR1 this is no capture PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"--list"}, 0, "tcplife ", ""},
		{[]string{"--help"}, 0, "Exit codes:", ""},
		{nil, 0, "netrec analyze FILE", ""},
		{[]string{"tcplife", "--help"}, 0, "--compat", ""},
		{[]string{"x.parquet", "sock", "--help"}, 0, "netrec analyze FILE sock ADDR", ""},
		{[]string{"x.parquet", "tcplive"}, 1, "", "netrec: no analysis \"tcplive\"\nnetrec: hint: did you mean tcplife?\n"},
		{[]string{"x.parquet", "tcplife", "--comapt"}, 1, "", "netrec: hint: did you mean --compat?\n"},
		{[]string{"--pid", "7"}, 1, "", "no file given"},
		{[]string{filepath.Join(t.TempDir(), "none.parquet")}, 2, "", "no such file"},
		{[]string{junk}, 2, "", "junk.parquet: damaged capture"},
		{[]string{t.TempDir(), "tcplife"}, 2, "", "a directory"},
	}
	for _, tt := range tests {
		var stdout, stderr bytes.Buffer
		code := run(append([]string{"analyze"}, tt.args...), &stdout, &stderr)
		if code != tt.code || !strings.Contains(stdout.String(), tt.stdout) || !strings.Contains(stderr.String(), tt.stderr) {
			t.Errorf("%q: exit code %d, want %d\n%s\n%s", tt.args, code, tt.code, &stdout, &stderr)
		}
		if tt.code != 0 && strings.Count(stderr.String(), "\n") > 2 {
			t.Errorf("%q: more than an error and a hint:\n%s", tt.args, &stderr)
		}
	}
}
