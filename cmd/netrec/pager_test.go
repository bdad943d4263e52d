package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// TestPager: text on a terminal goes through the pager and nothing else does; a reader who leaves is
// no mistake, and the exit code stays that of the answer.
func TestPager(t *testing.T) {
	file := filepathOfSample(t)
	t.Setenv("NO_COLOR", "1")
	t.Setenv("TERM", "xterm")
	ask := func(wanted int, args ...string) string {
		t.Helper()
		tty, said := pty(t, 1000)
		if code := run(append([]string{"analyze"}, args...), tty, io.Discard); code != wanted {
			t.Errorf("%q: exit code %d, want %d", args, code, wanted)
		}
		return said()
	}
	paged := func(text string) bool {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		return len(lines) > 1 && strings.HasPrefix(lines[0], "P ") && strings.HasPrefix(lines[len(lines)-1], "P ")
	}
	t.Setenv("PAGER", "sed 's/^/P /'")
	if got := ask(0, file, "tcplife"); !paged(got) {
		t.Errorf("not through PAGER:\n%s", got)
	}
	if got := ask(0, "--list"); !paged(got) {
		t.Errorf("the list of analyses is not through PAGER:\n%s", got)
	}
	for _, args := range [][]string{{"tcplife", "--no-pager"}, {"tcplife", "-f", "csv"}} {
		if got := ask(0, append([]string{file}, args...)...); strings.HasPrefix(got, "P ") || got == "" {
			t.Errorf("%q went through PAGER:\n%s", args, got)
		}
	}
	var b bytes.Buffer
	if code := run([]string{"analyze", file, "tcplife"}, &b, io.Discard); code != 0 || paged(b.String()) {
		t.Errorf("no terminal: code %d, through PAGER: %v", code, paged(b.String()))
	}
	if got := ask(codeNotInFile, file, "tpcount", "tcplife"); !paged(got) {
		t.Errorf("an answer that lacks an event:\n%s", got)
	}
	t.Setenv("NETREC_PAGER", "head -n 2")
	if got := ask(0, file, "all"); strings.Count(got, "\n") != 2 {
		t.Errorf("NETREC_PAGER is not preferred:\n%s", got)
	}
	for _, none := range []string{"", "cat", "no-such-pager-anywhere"} {
		t.Setenv("NETREC_PAGER", none)
		if got := ask(0, file, "tcplife"); paged(got) || !strings.Contains(got, "LADDR") {
			t.Errorf("NETREC_PAGER=%q:\n%s", none, got)
		}
	}
}
