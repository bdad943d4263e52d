package symbol

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Patience is how long a file of an observed process is waited for. A network or
// FUSE file system may never answer; names are not worth a stalled recording.
const Patience = 2 * time.Second

// maxStuck is how many waits may be abandoned at a time; beyond it files are not
// opened at all until one of them ends.
const maxStuck = 4

// guard runs what may hang or trip over hostile input.
type guard struct{ slots chan struct{} }

func newGuard() guard { return guard{make(chan struct{}, maxStuck)} }

var errStuck = errors.New("file system does not answer")

// guarded calls f on a goroutine of its own and gives up after Patience.
func guarded[T any](g guard, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	select {
	case g.slots <- struct{}{}:
	default:
		return none, errStuck
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r = result{err: fmt.Errorf("read: %v", p)}
			}
			<-g.slots
			done <- r
		}()
		r.value, r.err = f()
	}()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.value, r.err
	case <-timer.C:
		return none, errStuck
	}
}

// fileID tells whether a file is the one that was read before.
type fileID struct {
	dev, ino    uint64
	mtime, size int64
}

// openBelow opens a regular file below the root of a process. Links are followed
// inside that root, or not at all; what is no regular file is never opened, since
// opening a device or FIFO can have effects.
func openBelow(root, path string, resolve uint64) (*os.File, *unix.Stat_t, error) {
	dir, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", root, err)
	}
	defer unix.Close(dir)
	fd, err := unix.Openat2(dir, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS | resolve})
	if err != nil {
		return nil, nil, fmt.Errorf("open %s in %s: %w", path, root, err)
	}
	return reopen(fd, path)
}

// openLink opens the regular file that a link of /proc leads to.
func openLink(path string) (*os.File, *unix.Stat_t, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	return reopen(fd, path)
}

// reopen makes a descriptor that can only be looked at into one that can be read,
// if it is a regular file. It closes fd.
func reopen(fd int, path string) (*os.File, *unix.Stat_t, error) {
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, nil, fmt.Errorf("stat %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, nil, fmt.Errorf("%s: not a regular file", path)
	}
	n, err := unix.Open("/proc/self/fd/"+strconv.Itoa(fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	return os.NewFile(uintptr(n), path), &st, nil
}

func idOf(st *unix.Stat_t) fileID {
	return fileID{uint64(st.Dev), st.Ino, st.Mtim.Nano(), st.Size}
}
