package capture

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"netrec/record/encode"
	"netrec/schema"
)

// Create makes a new capture file that only its owner can read. It refuses to
// replace a file unless force is set, and anything but a regular file even then.
// createdBy is the footer's created_by, such as "netrec version 1.0".
func Create(path string, force bool, createdBy string) (*Writer, error) {
	if force {
		if err := unlinkRegular(path); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create capture: %w", err)
	}
	// Whoever would replace the file, or remove it as an old one, leaves it alone while it is locked.
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil && !errors.Is(err, unix.ENOTSUP) {
		f.Close()
		os.Remove(path)
		return nil, fmt.Errorf("create capture: lock %s: %w", path, err)
	}
	w, err := New(f, createdBy)
	if err != nil {
		os.Remove(path)
		return nil, fmt.Errorf("create capture %s: %w", path, err)
	}
	// Opened now, because privileges may be dropped before the first sync. Whoever
	// may write to a directory but not read it cannot sync the name.
	w.sync.dir, _ = os.Open(filepath.Dir(path))
	return w, nil
}

// New makes a capture of an empty file, which it owns from then on.
func New(f *os.File, createdBy string) (*Writer, error) {
	w, err := newWriter(&disk{File: f}, createdBy)
	if err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

// Remove takes away the name of a capture that did not begin, if it is still this file's.
func (w *Writer) Remove(path string) {
	d, ok := w.file.(*disk)
	if !ok {
		return
	}
	mine, err := d.Stat()
	if named, err2 := os.Lstat(path); err == nil && err2 == nil && os.SameFile(mine, named) {
		os.Remove(path)
	}
}

// Chown gives the file to a user. It goes by the open file, not by its name, which might
// lead elsewhere by now.
func (w *Writer) Chown(uid, gid int) error {
	if d, ok := w.file.(*disk); ok {
		return d.Chown(uid, gid)
	}
	return nil
}

func unlinkRegular(path string) error {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("replace capture: %w", err)
	case !st.Mode().IsRegular():
		return fmt.Errorf("replace capture %s: not a regular file but %s", path, kind(st.Mode()))
	}
	if locked(path) {
		return fmt.Errorf("replace capture %s: another recorder is writing it", path)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("replace capture: %w", err)
	}
	return nil
}

// locked reports whether a recorder is writing the file. One that cannot be read is not known to be.
func locked(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsDir():
		return "a directory"
	}
	return "a device, pipe or socket"
}

func newWriter(f file, createdBy string) (*Writer, error) {
	footer, err := encode.NewFooter(createdBy)
	if err != nil {
		return nil, err
	}
	packer, err := newWritten()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	w := &Writer{file: f, footer: footer, written: packer, meta: map[string]string{}, changed: map[string]bool{},
		now: time.Now, started: now, sync: syncer{at: now}}
	if _, err := rand.Read(w.nonce[:]); err != nil {
		return nil, err
	}
	start := append([]byte(schema.Magic), w.nonce[:]...)
	if err := w.writeAt(start, true); err != nil {
		return nil, err
	}
	w.end = int64(schema.FileStart)
	w.begin()
	return w, w.Set(schema.KeyFormat, schema.FormatVersion)
}
