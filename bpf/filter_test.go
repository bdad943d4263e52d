package bpf

import (
	"os"
	"strings"
	"testing"

	"netrec/schema"
)

// The documentation says of every event, once, by what filters judge it.
func TestFiltersAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../docs/filters.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "<!-- written by bpf/gen -->")
	for _, e := range schema.Events {
		if n := strings.Count(table, "`"+e.Name+"` "); !e.Own() && n != 1 {
			t.Errorf("docs/filters.md has event %s %d times; run go generate ./bpf", e.Name, n)
		}
	}
}
