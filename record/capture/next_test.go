package capture

import (
	"path/filepath"
	"testing"
)

// A file that goes on where another ended has its metadata from the first commit on,
// and does not replace a file that is there.
func TestNextTakesMetadataOver(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "a.parquet"), false, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Set("netrec.host", map[string]string{"name": "h"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "a.2.parquet")
	n, err := w.Next(name, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !n.changed["netrec.host"] || n.meta["netrec.host"] != w.meta["netrec.host"] {
		t.Errorf("metadata of the next file: %v", n.meta)
	}
	if err := n.Commit(); err != nil {
		t.Fatal(err)
	}
	if n.changed["netrec.host"] {
		t.Error("the first commit of the next file left the metadata out")
	}
	if _, err := n.Next(name, "test"); err == nil {
		t.Error("an existing file was replaced")
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}
