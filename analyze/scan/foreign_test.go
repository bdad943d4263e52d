package scan

import (
	"path/filepath"
	"testing"
)

// TestForeign reads the same rows as written by other programs, with other
// encodings, codecs, page versions, column orders and types of their choice.
func TestForeign(t *testing.T) {
	files, err := filepath.Glob("testdata/foreign/*.parquet")
	must(t, err)
	if len(files) != 8 {
		t.Fatalf("%d files, want 8", len(files))
	}
	_, want := sample(600)
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := Open(path, Options{})
			must(t, err)
			defer f.Close()
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
