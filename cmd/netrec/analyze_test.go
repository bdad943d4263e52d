package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netrec/analyze/engine"
)

func TestAnalyzeExitCodes(t *testing.T) {
	junk := filepath.Join(t.TempDir(), "junk.parquet")
	if err := os.WriteFile(junk, []byte("PAR1 this is no capture PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	few := filepath.Join(t.TempDir(), "few.parquet")
	writePart(t, few, partOf{"h", "b", "A", 1, "signal"}, session(5, 25, 1003)...)
	tests := []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"--list"}, 0, "tcplife ", ""},
		{[]string{"--help"}, 0, "Exit codes:", ""},
		{nil, 0, "netrec analyze FILE", ""},
		{[]string{"tcplife", "--help"}, 0, "--compat", ""},
		{[]string{"x.parquet", "sock", "--help"}, 0, "netrec analyze FILE sock SOCKET", ""},
		{[]string{"x.parquet", "tcplive"}, 1, "", "netrec: no analysis \"tcplive\"\nnetrec: hint: did you mean tcplife?\n"},
		{[]string{"x.parquet", "tcplife", "--comapt"}, 1, "", "netrec: hint: did you mean --compat?\n"},
		{[]string{"--pid", "7"}, 1, "", "no file given"},
		{[]string{filepath.Join(t.TempDir(), "none.parquet")}, 2, "", "no such file"},
		{[]string{junk}, 2, "", "junk.parquet: damaged capture"},
		{[]string{t.TempDir(), "tcplife"}, 2, "", "a directory"},
		{[]string{few, "tcpsynbl", "--table", "listeners"}, codeNotInFile, "# tcpsynbl: cannot answer: ", ""},
		{[]string{few, "tcplife", "--table", "listeners"}, 1, "", "netrec: option --table: the answer has no table \"listeners\"\n"},
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

// TestBrokenAnalysisIsSaid: an analysis that broke is a line and an exit code, whether or not it
// was asked for by name, and hides less than a file that could not be read.
func TestBrokenAnalysisIsSaid(t *testing.T) {
	b := &engine.Broken{What: "analysis x", Panic: "odd\x1b[2J", At: "x.go:1"}
	outcomes := []engine.Outcome{{Name: "a", Status: engine.NotRecorded}, {Name: "x", Status: engine.Broke, Broken: b}, {Name: "b", Status: engine.NotRecorded}}
	for _, implied := range []bool{false, true} {
		calls := make([]engine.Call, len(outcomes))
		for i := range calls {
			calls[i].Implied = implied
		}
		var side bytes.Buffer
		if code := codeOf(outcomes, calls, &side); code != codeBroken || side.String() != "netrec: analysis x: internal error at x.go:1: odd\\x1b[2J\n" {
			t.Errorf("implied %t: exit code %d, said %q", implied, code, &side)
		}
	}
	if code := codeFor(unreadable{fmt.Errorf("read: %w", b)}); code != codeBroken {
		t.Errorf("a reader that broke: exit code %d", code)
	}
	if worse(codeBroken, codeNotInFile) != codeBroken || worse(codeBroken, codeUnreadable) != codeUnreadable || worse(0, codeNotInFile) != codeNotInFile {
		t.Error("a smaller trouble hides a greater one")
	}
}
