package main

import (
	"io"
	"strings"
	"testing"

	"netrec/analyze"
	"netrec/analyze/engine"
)

// TestOddAnswers asks everything, with every option, of recordings with values at and
// beyond the edges, such as rows without the socket that they always have: whatever the
// answers are, there are some.
func TestOddAnswers(t *testing.T) {
	odd := writeOddCapture(t)
	for n, more := 0, true; more; n++ {
		args := []string{"analyze", odd.cut}
		more = false
		for _, a := range analyze.All() {
			option := optionNo(a, n)
			if option == "" && n > 0 {
				continue
			}
			more = more || option != ""
			if args = append(args, a.Name); a.Arg != "" {
				args = append(args, "0xffff888123456781")
			}
			args = append(args, strings.Fields(option)...)
		}
		if code := run(args, io.Discard, io.Discard); code != 0 && code != codeNotInFile {
			t.Errorf("exit code %d of %v", code, args)
		}
	}
}

// optionNo is the n-th way to use an option of an analysis, "" if there are fewer. Those
// that name a file have no part in it.
func optionNo(a *engine.Analysis, n int) string {
	var all []string
	for _, o := range a.Options {
		switch o.Kind {
		case engine.Flag:
			all = append(all, "--"+o.Name)
		case engine.Number:
			all = append(all, "--"+o.Name+" 3")
		case engine.Choices:
			all = append(all, "--"+o.Name+" "+strings.Join(o.Choices[:len(o.Choices)-1], ","))
		case engine.Choice:
			for _, c := range o.Choices {
				all = append(all, "--"+o.Name+" "+c)
			}
		}
	}
	if n < len(all) {
		return all[n]
	}
	return ""
}
