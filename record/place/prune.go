package place

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// found is a file of ours.
type found struct{ folder, name string } // folder is dt=…, "" for none

// Prune removes the oldest files beyond Keep, and what recorders have left behind that
// were killed before a file had its name. Files that somebody is writing stay.
func (l *local) Prune() error {
	files, strays, err := l.list()
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range strays {
		errs = append(errs, l.remove(f))
	}
	if l.Keep > 0 && len(files) > l.Keep {
		for _, f := range files[:len(files)-l.Keep] {
			errs = append(errs, l.remove(f))
		}
	}
	return errors.Join(errs...)
}

// list finds the files that this plan has made, oldest first.
func (l *local) list() (files, strays []found, err error) {
	folders := []string{""}
	if l.Host != "" {
		names, err := l.names(nil)
		if err != nil {
			return nil, nil, err
		}
		folders = slices.DeleteFunc(names, func(n string) bool { return !day.MatchString(n) })
	}
	ours := l.ours()
	for _, folder := range folders {
		names, err := l.names(l.path(folder))
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
			continue // not a folder that a recorder made
		}
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			hidden, isHidden := strings.CutPrefix(strings.TrimSuffix(name, unnamed), ".")
			switch {
			case ours.MatchString(name):
				files = append(files, found{folder, name})
			case isHidden && strings.HasSuffix(name, unnamed) && ours.MatchString(hidden):
				strays = append(strays, found{folder, name})
			}
		}
	}
	return files, strays, nil
}

// path is where the files of a day lie.
func (l *local) path(folder string) []string {
	if folder == "" {
		return nil
	}
	return []string{folder, l.hostFolder()}
}

// names lists a directory below Dir in order.
func (l *local) names(path []string) ([]string, error) {
	d, err := l.folder(path, false)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// remove unlinks a file unless it is locked, and its folders if they are empty then.
func (l *local) remove(f found) error {
	d, err := l.folder(l.path(f.folder), false)
	if err != nil {
		return err
	}
	defer d.Close()
	fd, err := unix.Openat(int(d.Fd()), f.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove capture %s: %w", f.name, err)
	}
	defer unix.Close(fd)
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil // somebody is writing it
	}
	if err := unix.Unlinkat(int(d.Fd()), f.name, 0); err != nil {
		return fmt.Errorf("remove capture %s: %w", f.name, err)
	}
	if f.folder != "" {
		l.removeEmpty(f.folder)
	}
	return nil
}

// removeEmpty removes the folders of a day; those that are not empty stay.
func (l *local) removeEmpty(folder string) {
	d, err := l.folder([]string{folder}, false)
	if err != nil {
		return
	}
	_ = unix.Unlinkat(int(d.Fd()), l.hostFolder(), unix.AT_REMOVEDIR)
	d.Close()
	_ = unix.Unlinkat(int(l.dir.Fd()), folder, unix.AT_REMOVEDIR)
}
