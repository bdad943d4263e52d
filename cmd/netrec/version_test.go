package main

import (
	"encoding/json"
	"strings"
	"testing"

	"netrec/schema"
)

func TestVersion(t *testing.T) {
	var out, errs strings.Builder
	if code := run([]string{"version", "-f", "json"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var b buildFacts
	if err := json.Unmarshal([]byte(out.String()), &b); err != nil {
		t.Fatal(err)
	}
	if b.Version != version || b.Format != schema.FormatVersion || b.Columns != len(schema.Columns) || len(b.Probes.SHA256) != 64 || !strings.HasPrefix(b.Go, "go") {
		t.Errorf("facts: %+v", b)
	}
	out.Reset()
	if code := run([]string{"version"}, &out, &errs); code != 0 || !strings.HasPrefix(out.String(), "netrec "+version+"\n") || !strings.Contains(out.String(), b.Probes.SHA256) {
		t.Errorf("exit code %d, text %q", code, out.String())
	}
	if code := run([]string{"version", "-f", "xml"}, &out, &errs); code != 1 {
		t.Errorf("format xml: exit code %d, want 1", code)
	}
}
