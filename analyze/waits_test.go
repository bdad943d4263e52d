package analyze

import (
	"strings"
	"testing"
	"unicode/utf8"

	"netrec/analyze/scan"
)

// TestWaitsFitTheScreen: lines of the sample have at most a hundred columns, and --all has everything.
func TestWaitsFitTheScreen(t *testing.T) {
	f, err := scan.Open("../cmd/netrec/sample.parquet", scan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	got := string(answer(t, f, "waits --slowest 5", "text"))
	for _, l := range strings.Split(got, "\n") {
		if utf8.RuneCountInString(l) > 100 && !strings.HasPrefix(l, "# ") { // commands stay whole
			t.Errorf("%d columns: %s", utf8.RuneCountInString(l), l)
		}
	}
	for _, want := range []string{"\nSERVICE                TURNS ", " %, ", " % …\n", "# waits: what happened in the slowest: netrec analyze ", "--all"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}
