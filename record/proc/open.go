package proc

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Below opens a regular file below the root of a process. Links are followed inside
// that root, or as resolve says, flags of openat2(2).
func Below(root, path string, resolve uint64) (*os.File, *unix.Stat_t, error) {
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

// Link opens the regular file that a link of /proc leads to.
func Link(path string) (*os.File, *unix.Stat_t, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	return reopen(fd, path)
}

// Path names a file that this process has open, for calls of the kernel that want a
// path: whatever happens to the file's own path, it is still that file.
func Path(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

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
