package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"netrec/analyze"
	"netrec/record/synth"
)

// TestEveryAnalysisOfASyntheticCapture asks for all analyses in one call, of a file that
// has every event: each must have an answer, and none may fail the call.
func TestEveryAnalysisOfASyntheticCapture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "synth.parquet")
	if _, err := synth.Write(path, synth.Options{Rows: 150_000, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"analyze", path, "all"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, a := range analyze.All() {
		if a.Arg == "" && !strings.Contains("\n"+out.String(), "\n# "+a.Name+": ") {
			t.Errorf("analysis %s has no answer", a.Name)
		}
	}
	for _, line := range strings.Split(out.String(), "\n") {
		if strings.Contains(line, "cannot answer") || strings.Contains(line, "none of them makes a row") {
			t.Error(line)
		}
	}
}
