package place

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Files makes the files of a recording, one after the other. Methods must not be called
// at the same time.
type Files interface {
	// Begin makes the next file, which has no name that others look for yet. The path
	// is the one it will have.
	Begin() (f *os.File, path string, err error)
	// Publish gives the file its name.
	Publish() error
	// Discard removes a file that was begun and not published.
	Discard()
	// Prune removes the oldest files beyond those that are to stay.
	Prune() error
	// Pid is the process that makes them, 0 for this one.
	Pid() uint32
	Close() error
}

// local makes files in this process.
type local struct {
	Plan
	dir   *os.File
	begun *begun
	now   func() time.Time
	past  int // numbers that are taken
}

// begun is a file without its name.
type begun struct {
	folder *os.File
	name   string
}

// Pid implements Files.
func (*local) Pid() uint32 { return 0 }

func (b *begun) hidden() string { return "." + b.name + unnamed }

// tries is how many names are tried, each a millisecond later.
const tries = 1000

func (l *local) Begin() (*os.File, string, error) {
	l.Discard()
	at := l.now()
	for range tries {
		f, path, err := l.beginAt(at)
		if !errors.Is(err, os.ErrExist) {
			return f, path, err
		}
		at = at.Add(time.Millisecond)
		l.past++
	}
	return nil, "", fmt.Errorf("make a capture in %s: no name is free", l.Dir)
}

func (l *local) beginAt(at time.Time) (*os.File, string, error) {
	folder, err := l.folder(l.folders(at), true)
	if err != nil {
		return nil, "", err
	}
	b := &begun{folder, l.name(at, l.past)}
	path := filepath.Join(append(append([]string{l.Dir}, l.folders(at)...), b.name)...)
	f, err := create(b)
	if err != nil {
		folder.Close()
		return nil, "", fmt.Errorf("make capture %s: %w", path, err)
	}
	l.begun = b
	return f, path, nil
}

func create(b *begun) (*os.File, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(b.folder.Fd()), b.name, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil {
		return nil, os.ErrExist
	}
	fd, err := unix.Openat(int(b.folder.Fd()), b.hidden(), unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, fileMode)
	if err != nil {
		return nil, err
	}
	// Whoever removes old files leaves those alone that are locked.
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), b.name), nil
}

// folder opens directories below the first, each without following a link, and makes
// them if asked to.
func (l *local) folder(names []string, mk bool) (*os.File, error) {
	fd, err := unix.Openat(int(l.dir.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", l.Dir, err)
	}
	for _, name := range names {
		if mk {
			if err := unix.Mkdirat(fd, name, dirMode); err != nil && !errors.Is(err, unix.EEXIST) {
				unix.Close(fd)
				return nil, fmt.Errorf("make %s in %s: %w", name, l.Dir, err)
			}
		}
		below, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		unix.Close(fd)
		if err != nil {
			return nil, fmt.Errorf("open %s in %s: %w", name, l.Dir, err)
		}
		fd = below
	}
	return os.NewFile(uintptr(fd), l.Dir), nil
}

func (l *local) Publish() error {
	b := l.begun
	if b == nil {
		return errors.New("no capture was begun")
	}
	at := int(b.folder.Fd())
	err := unix.Renameat2(at, b.hidden(), at, b.name, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // a file system that cannot
		err = unix.Linkat(at, b.hidden(), at, b.name, 0)
		if err == nil {
			err = unix.Unlinkat(at, b.hidden(), 0)
		}
	}
	if err != nil {
		return fmt.Errorf("name capture %s: %w", b.name, err)
	}
	_ = b.folder.Sync() // not every file system can; the file itself is synced by its writer
	b.folder.Close()
	l.begun = nil
	l.past++
	return nil
}

func (l *local) Discard() {
	if b := l.begun; b != nil {
		_ = unix.Unlinkat(int(b.folder.Fd()), b.hidden(), 0)
		b.folder.Close()
		l.begun = nil
	}
}

func (l *local) Close() error {
	l.Discard()
	return l.dir.Close()
}
