package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"netrec/analyze"
	"netrec/analyze/engine"
)

func sampleFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cap.parquet")
	must(t, os.WriteFile(file, sample, 0o600))
	return file
}

// anySock is a socket of the recording.
func anySock(t *testing.T, file string) string {
	t.Helper()
	out, errs, code := said("analyze", file, "socks", "--top", "1", "-f", "csv")
	addr := regexp.MustCompile(`0xffff[0-9a-f]+`).FindString(out)
	if code != 0 || addr == "" {
		t.Fatalf("no socket in the sample: %s%s", out, errs)
	}
	return addr
}

// A stream of csv is one table, whatever the analysis: every row has the columns of the
// heading, and other tables with rows are named beside it.
func TestCSVIsOneTable(t *testing.T) {
	file := sampleFile(t)
	for _, a := range analyze.All() {
		args := []string{"analyze", file, a.Name, "-f", "csv"}
		if a.Arg != "" {
			args = []string{"analyze", file, a.Name, anySock(t, file), "-f", "csv"}
			if a.Name != "sock" {
				continue // wants the address of another thing
			}
		}
		out, errs, code := said(args...)
		if code != 0 && code != codeNotInFile {
			t.Fatalf("%s: exit code %d: %s", a.Name, code, errs)
		}
		if _, err := csv.NewReader(strings.NewReader(out)).ReadAll(); err != nil || strings.Contains(out, "\n\n") {
			t.Errorf("%s: not one table: %v", a.Name, err)
		}
	}
}

// The csv of a socket has each of its events once, and the facts on demand.
func TestSocketAsCSV(t *testing.T) {
	file := sampleFile(t)
	addr := anySock(t, file)
	out, errs, code := said("analyze", file, "sock", addr, "-f", "csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if code != 0 || err != nil || len(rows) < 10 || len(rows[0]) < 50 || !strings.Contains(errs, "--table chooses another: lives, split, turns, timeline") {
		t.Fatalf("exit code %d, %v, %d rows of %d columns\n%s", code, err, len(rows), len(rows[0]), errs)
	}
	seen := map[string]bool{}
	for _, r := range rows[1:] {
		key := strings.Join(r[1:7], ",") // time, event, CPU, sequence
		if seen[key] {
			t.Errorf("twice: %v", r)
		}
		seen[key] = true
	}
	lives, errs, code := said("analyze", file, "sock", addr, "-f", "csv", "--table", "lives")
	if code != 0 || !strings.HasPrefix(lives, "generation,sock,netns,") || strings.Contains(errs, "--table") {
		t.Errorf("lives: exit code %d\n%s%s", code, lives, errs)
	}
	out, errs, code = said("analyze", file, "sock", addr, "--table", "live")
	if code != 1 || out != "" && strings.Contains(out, "TIME(s)") || !strings.Contains(errs, "did you mean lives?") {
		t.Errorf("a table that is not there: exit code %d, %s\n%s", code, errs, out)
	}
	if _, errs, _ := said("analyze", file, "sock", addr, "--table", "event"); !strings.Contains(errs, "did you mean events?") {
		t.Errorf("a table for programs is not offered: %s", errs)
	}
	if strings.Contains(out, "user_ns") {
		t.Errorf("columns of the recorder's own rows in the csv of a socket")
	}
	if out, _, code := said("analyze", file, "sock", addr, "--list-tables"); code != 0 || !regexp.MustCompile(`(?m)^sock +events +\d+ generation,ts_ns,`).MatchString(out) {
		t.Errorf("tables: exit code %d\n%s", code, out)
	}
	if out, _, _ := said("__complete", "analyze", file, "sock", addr, "--table", ""); !strings.Contains(out, "events\t") || !strings.Contains(out, "lives\t") {
		t.Errorf("completion of tables: %s", out)
	}
	if help := engine.GlobalHelp(); !strings.Contains(help, "--table") || !strings.Contains(help, "--list-tables") {
		t.Errorf("help does not name the options:\n%s", help)
	}
}

// What the demo suggests works: its recording is still there.
func TestDemoKeepsItsRecording(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	out, errs, code := said("demo", "--sample")
	next := regexp.MustCompile(`(?m)^ +netrec (analyze \S+ \w+.*)$`).FindStringSubmatch(out)
	if code != 0 || next == nil {
		t.Fatalf("exit code %d, no command suggested\n%s", code, errs)
	}
	if _, errs, code := said(strings.Fields(next[1])...); code != 0 {
		t.Errorf("netrec %s: exit code %d: %s", next[1], code, errs)
	}
}

// The help of a flag is a sentence about it.
func TestFilterHelp(t *testing.T) {
	out, _, _ := said("record", "--help")
	for _, want := range []string{"--sample-seed SEED", "choose a different sample of connections", "only this network namespace"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in the help", want)
		}
	}
}
