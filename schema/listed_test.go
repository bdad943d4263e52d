package schema

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryEventIsListed finds an event that was declared but not entered in Events,
// which would otherwise be as if it did not exist.
func TestEveryEventIsListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`= Event\{ID: \d+, Name: "(\w+)"`)
	found := 0
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllSubmatch(src, -1) {
			found++
			if ByName(string(m[1])) == nil {
				t.Errorf("%s declares event %s, and Events in events.go does not list it", f, m[1])
			}
		}
	}
	if found < len(Events) {
		t.Errorf("%d declarations of the form = Event{ID: …, Name: … for %d events", found, len(Events))
	}
}
