package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netrec/analyze"
	"netrec/internal/bench/synth"
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

// TestSpeedAsksEverything: the comparison of speed must have every analysis, by the name
// it has now.
func TestSpeedAsksEverything(t *testing.T) {
	b, err := os.ReadFile("../../testdata/speed/queries.sql")
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, line := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, "-- @ "); ok {
			asked[strings.Fields(rest)[0]] = true
		}
	}
	for _, a := range analyze.All() {
		if a.Arg == "" && !asked[a.Name] {
			t.Errorf("testdata/speed/queries.sql has no query for the analysis %s", a.Name)
		}
		delete(asked, a.Name)
	}
	for name := range asked {
		t.Errorf("testdata/speed/queries.sql asks for %s, which is no analysis", name)
	}
}
