package capture

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// file is what a Writer needs of the file system; tests put a full disk here.
type file interface {
	io.WriterAt
	io.ReaderAt // of the row groups, for footers
	io.Closer
	Truncate(size int64) error
	Sync() error
	Reserve(off, n int64) error
	Punch(off, n int64) error
	Still(size int64) error
}

// What others may do to a file that is being written.
var (
	errRemoved = errors.New("the file was removed or replaced while it was being written")
	errCut     = errors.New("the file was cut off by another program while it was being written")
)

// disk is a file of a real file system.
type disk struct {
	*os.File
	waits *Waits
}

// Sync makes the data durable; the time of last change may be lost.
func (d *disk) Sync() error { return retry(func(fd int) error { return unix.Fdatasync(fd) }, d) }

// Reserve claims space beyond the end of the file without changing its size.
func (d *disk) Reserve(off, n int64) error {
	return retry(func(fd int) error { return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, off, n) }, d)
}

// Punch gives the space of a range back; it then reads as zeros.
func (d *disk) Punch(off, n int64) error {
	return retry(func(fd int) error {
		return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
	}, d)
}

// Still is an error where the file has no name any more, or not even size bytes: what is
// written to it then, nobody will find.
func (d *disk) Still(size int64) error {
	var st unix.Stat_t
	err := retry(func(fd int) error { return unix.Fstat(fd, &st) }, d)
	switch {
	case err != nil:
		return fmt.Errorf("look at capture: %w", err)
	case st.Nlink == 0:
		return errRemoved
	case st.Size < size:
		return errCut
	}
	return nil
}

func retry(call func(fd int) error, d *disk) error {
	for {
		if err := call(int(d.Fd())); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// syncDir makes the name of the file durable.
func syncDir(dir *os.File) error {
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // EINVAL: this file system has nothing to sync
		return err
	}
	return nil
}

// full reports whether an error means that there is no room, now.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
