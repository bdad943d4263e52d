package proc

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/file", filepath.Join(dir, "inside")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../../../../../../../etc/passwd", filepath.Join(dir, "outside")); err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{"fifo": false, "file": true, "/file": true, "inside": true, "outside": false, ".": false, "none": false} {
		f, _, err := Below(dir, name, 0)
		if (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			f.Close()
		}
	}
	if _, _, err := Below(dir, "inside", unix.RESOLVE_NO_SYMLINKS); err == nil {
		t.Error("a link was followed where none may be")
	}
}
