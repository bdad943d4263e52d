package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutputIsNoInput: a recording is never emptied or replaced by what is made of it, by
// whatever name it is given.
func TestOutputIsNoInput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	must(t, os.WriteFile("cap.parquet", sample, 0o600))
	must(t, os.Link("cap.parquet", "hard.svg"))
	must(t, os.Symlink("cap.parquet", "soft.html"))
	must(t, os.Mkdir("folder", 0o700))
	must(t, os.Link("cap.parquet", "folder/part.parquet"))
	for _, args := range []string{
		"analyze cap.parquet -o cap.parquet", "analyze cap.parquet tcplife -o soft.html", "analyze soft.html -o ./cap.parquet -f csv", "analyze folder -o hard.svg",
		"analyze cap.parquet tcpwin --plot hard.svg", "report cap.parquet -o cap.parquet", "report cap.parquet -o hard.svg", "report soft.html", "report folder -o cap.parquet",
		"export cap.parquet --to folded -o cap.parquet", "export folder --to arrow -o soft.html",
	} {
		var stderr bytes.Buffer
		if code := run(strings.Fields(args), io.Discard, &stderr); code != 1 || !strings.Contains(stderr.String(), ": it is the recording ") {
			t.Errorf("%s: exit code %d, said %s", args, code, &stderr)
		}
		if b, err := os.ReadFile("cap.parquet"); err != nil || !bytes.Equal(b, sample) {
			t.Fatalf("%s: the recording has %d bytes, %v", args, len(b), err)
		}
	}
	if code := run(strings.Fields("analyze cap.parquet tcplife -o "+filepath.Join(dir, "other")), io.Discard, io.Discard); code != 0 {
		t.Errorf("another output: exit code %d", code)
	}
}

// TestNamesOfFilesSteerNoTerminal: whoever may make files in a folder chooses their names.
func TestNamesOfFilesSteerNoTerminal(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const name = "a\x1b[2J\x07\nnetrec: all is well\u202e.parquet"
	must(t, os.WriteFile(name, []byte("PAR1 this is no capture PAR1"), 0o600))
	must(t, os.WriteFile("good.parquet", sample, 0o600))
	must(t, os.Link("good.parquet", "b\x1b[2J.parquet"))
	for _, args := range [][]string{{"report", dir}, {"export", dir, "--to", "folded"}, {"analyze", dir}, {"analyze", name}, {"report", name}, {"report", "a\x1b[2J"}, {"report", "b\x1b[2J.parquet"},
		{"export", "*", "--to", "arrow", "-o", "/none/x"}, {"analyze", "good.parquet", "-o", "b\x1b[2J.parquet"}, {"report", "b\x1b[2K.parquet"}} {
		var stdout, stderr bytes.Buffer
		run(args, &stdout, &stderr)
		for _, said := range []string{stdout.String(), stderr.String()} {
			if strings.ContainsAny(said, "\x1b\x07\u202e") || strings.Contains("\n"+said, "\nnetrec: all is well") {
				t.Errorf("%q: said %q", args, said)
			}
		}
		if stdout.Len()+stderr.Len() == 0 {
			t.Errorf("%q: said nothing", args)
		}
	}
}
