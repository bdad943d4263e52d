package scan

import (
	"os"
	"path/filepath"
	"testing"
)

// foreignFiles reads what testdata/foreign/make.py wrote, by name.
func foreignFiles(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/foreign/*.parquet")
	must(t, err)
	if len(paths) != 8 {
		t.Fatalf("%d files, want 8", len(paths))
	}
	files := map[string][]byte{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		must(t, err)
		files[filepath.Base(p)] = b
	}
	return files
}

// TestForeign reads the same rows as written by other programs, with other
// encodings, codecs, page versions, column orders and types of their choice.
func TestForeign(t *testing.T) {
	_, want := sample(600)
	for name, b := range foreignFiles(t) {
		t.Run(name, func(t *testing.T) {
			f, err := open(t, b, Options{})
			must(t, err)
			got, err := scanAll(f, Query{})
			must(t, err)
			same(t, got, want)
			if n := f.Meta().Rows["skb_drop"]; n != 150 || len(f.Meta().Problems) > 0 {
				t.Errorf("%d rows of skb_drop, problems %q", n, f.Meta().Problems)
			}
			sock := rowAt(3, "").Sock
			n := 0
			must(t, f.Scan(Query{Sock: sock, Columns: []Col{}}, func(*Row) error { n++; return nil }))
			if n != 55 {
				t.Errorf("%d rows of one socket, want 55", n)
			}
		})
	}
}
