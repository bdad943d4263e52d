package capture

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCreateRefuses(t *testing.T) {
	for _, tc := range []struct {
		name  string
		make  func(path string) error
		force bool
		want  string // in the error; "" for success
	}{
		{"new file", func(string) error { return nil }, false, ""},
		{"new file with force", func(string) error { return nil }, true, ""},
		{"existing file", touch, false, "exists"},
		{"existing file with force", touch, true, ""},
		{"symlink", link, false, "exists"},
		{"symlink with force", link, true, "symbolic link"},
		{"directory with force", func(p string) error { return os.Mkdir(p, 0o700) }, true, "directory"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cap.parquet")
			must(t, tc.make(path))
			w, err := Create(path, tc.force, "")
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Fatalf("got %v, want %q", err, tc.want)
				}
				return
			}
			must(t, err)
			must(t, w.Close())
			st, err := os.Lstat(path)
			must(t, err)
			if st.Mode() != 0o600 {
				t.Errorf("mode %v", st.Mode())
			}
		})
	}
}

// A second recorder may not take a file away from the first; it may once that has ended.
func TestFileIsLockedWhileItIsWritten(t *testing.T) {
	w, path := create(t)
	for _, force := range []bool{false, true} {
		if _, err := Create(path, force, ""); err == nil {
			t.Fatalf("force %v: replaced a file that is being written", force)
		}
	}
	must(t, w.Close())
	again, err := Create(path, true, "")
	must(t, err)
	must(t, again.Close())
}

func touch(path string) error { return os.WriteFile(path, []byte("precious"), 0o644) }

func link(path string) error {
	if err := touch(path + ".target"); err != nil {
		return err
	}
	return os.Symlink(path+".target", path)
}

func TestRefusedFilesAreUntouched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cap.parquet")
	must(t, link(path))
	for _, force := range []bool{false, true} {
		if _, err := Create(path, force, ""); err == nil {
			t.Fatal("created through a link")
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "precious" {
			t.Fatalf("target now %q, %v", b, err)
		}
	}
	must(t, touch(path+".file"))
	if _, err := Create(path+".file", false, ""); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want one that is fs.ErrExist", err)
	}
}

func TestTwoFilesHaveTwoNonces(t *testing.T) {
	a, _ := create(t)
	b, _ := create(t)
	if a.nonce == b.nonce {
		t.Errorf("both %x", a.nonce)
	}
	must(t, a.Close())
	must(t, b.Close())
}
