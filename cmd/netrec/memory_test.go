package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestMemoryOption(t *testing.T) {
	for word, want := range map[string]int64{"": 0, "2G": 2 << 30, "128M": 128 << 20} {
		if o, err := reading(word); err != nil || o.Memory != want {
			t.Errorf("%q: %d, %v", word, o.Memory, err)
		}
	}
	for _, args := range [][]string{{"analyze", "sample.parquet", "--memory", "64M"}, {"report", "sample.parquet", "--memory", "much"}, {"export", "sample.parquet", "--to", "folded", "--memory", "1T"}} {
		var out, side bytes.Buffer
		if code := run(args, &out, &side); code != 1 || !strings.Contains(side.String(), "option --memory: ") {
			t.Errorf("%v: exit code %d, %s", args, code, side.String())
		}
	}
}

// TestWorseCode: of several recordings, the greatest trouble is the exit code.
func TestWorseCode(t *testing.T) {
	order := []exitCode{0, codeNotInFile, codePart, codeBroken, codeUnreadable}
	for i, a := range order {
		for j, b := range order {
			if got := worse(a, b); got != order[max(i, j)] {
				t.Errorf("%d and %d: %d", a, b, got)
			}
		}
	}
}
