package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netrec/analyze"
	"netrec/schema"
)

// The pages have everything that the program has, and mandoc finds nothing wrong with them.
func TestManPages(t *testing.T) {
	dir := t.TempDir()
	var out, errs strings.Builder
	if code := run([]string{"man", dir}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	page := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range rootCmd().Commands() {
		if c.IsAvailableCommand() && !strings.Contains(page("netrec-"+c.Name()+".1"), ".SH SYNOPSIS") {
			t.Errorf("netrec-%s.1 has no synopsis", c.Name())
		}
	}
	for _, a := range analyze.All() {
		if !strings.Contains(page("netrec-analyses.7"), ".SS "+roff(a.Name)+": ") {
			t.Errorf("netrec-analyses.7 has no %s", a.Name)
		}
	}
	for _, c := range schema.Columns {
		if !strings.Contains(page("netrec.5"), "\n.B "+roff(c.Name)+" ") {
			t.Errorf("netrec.5 has no column %s", c.Name)
		}
	}
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("left out: no mandoc to check the pages with")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	if b, err := exec.Command(mandoc, append([]string{"-Tlint", "-Wwarning"}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("mandoc: %v\n%s", err, b)
	}
}

func TestRoff(t *testing.T) {
	for in, want := range map[string]string{
		`a\b`: `a\eb`, ".TH x": `\&.TH x`, "'s": `\(aqs`, "--wide": `\-\-wide`, `"q"`: `\(dqq\(dq`,
	} {
		if got := line(in); got != want {
			t.Errorf("line(%q) = %q, want %q", in, got, want)
		}
	}
}
