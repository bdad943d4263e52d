package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestRotateWords(t *testing.T) {
	for in, want := range map[string]int64{"": 0, "1": 1_000_000, "500": 500_000_000, "2M": 2 << 20, "1G": 1 << 30, "0": -1, "-3": -1, "900K": -1, "x": -1} {
		if got, err := parseFileSize(in); err == nil && got != want || err != nil && want != -1 {
			t.Errorf("-C %q: %d, %v; want %d", in, got, err, want)
		}
	}
	for in, want := range map[string]time.Duration{"": 0, "60": time.Minute, "1h": time.Hour, "1m30s": 90 * time.Second, "0": -1, "100ms": -1, "-5": -1, "x": -1} {
		if got, err := parseFileTime(in); err == nil && got != want || err != nil && want != -1 {
			t.Errorf("-G %q: %v, %v; want %v", in, got, err, want)
		}
	}
}

// What is wrong with the flags is said before anything is attached or made.
func TestRotateMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"--out-dir x -o y.parquet": "choose one",
		"-C 0":                     "-C 0: want at least 1",
		"-G soon":                  "-G soon: want seconds",
		"-W -1":                    "-W -1: want a number",
	} {
		var out, errs bytes.Buffer
		if code := run(append([]string{"record"}, strings.Fields(args)...), &out, &errs); code != 1 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d, %s", args, code, &errs)
		}
	}
}
