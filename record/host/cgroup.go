package host

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxCgroups bounds the search for a container.
const maxCgroups = 100_000

// errNoCgroups is a host without the hierarchy that sockets belong to.
var errNoCgroups = errors.New("no cgroup2 file system is mounted; sockets have no cgroup of version 1")

// Cgroup finds a cgroup of version 2 by its id or its path, from the root of the
// hierarchy or of the file system. It returns the id, which the kernel compares, and
// the path below the mount point.
func Cgroup(spec string) (uint64, string, error) {
	if id, err := strconv.ParseUint(spec, 10, 64); err == nil && id > 1 {
		return id, spec, nil
	}
	root, err := cgroupRoot()
	if err != nil {
		return 0, "", err
	}
	path := filepath.Clean("/" + spec)
	if below, ok := strings.CutPrefix(path, root); ok && (below == "" || below[0] == '/') {
		path = below
	}
	if path == "" || path == "/" {
		return 0, "", fmt.Errorf("the root cgroup contains every process; leave the filter out")
	}
	id, err := cgroupID(root + path)
	if err != nil {
		return 0, "", fmt.Errorf("cgroup %s: %w", path, err)
	}
	return id, path, nil
}

// cgroupID is the id of a cgroup, which is the inode of its folder.
func cgroupID(path string) (uint64, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd)
	var sys unix.Statfs_t
	if err := unix.Fstatfs(fd, &sys); err != nil {
		return 0, fmt.Errorf("statfs %s: %w", path, err)
	}
	if sys.Type != unix.CGROUP2_SUPER_MAGIC {
		return 0, fmt.Errorf("%s: not a cgroup of version 2", path)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, fmt.Errorf("stat %s: %w", path, err)
	}
	return st.Ino, nil
}

// cgroupRoot is where the hierarchy of version 2 is mounted.
func cgroupRoot() (string, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("find the cgroup2 file system: %w", err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for n := 0; n < maxMounts && s.Scan(); n++ {
		if at, ok := cgroupMount(s.Text()); ok {
			return at, nil
		}
	}
	return "", errNoCgroups
}

// cgroupMount reads a line of mountinfo: the mount point is the fifth field, the type
// the first after the dash.
func cgroupMount(line string) (string, bool) {
	before, after, ok := strings.Cut(line, " - ")
	fields := strings.Fields(before)
	if !ok || len(fields) < 5 || !strings.HasPrefix(after, "cgroup2 ") {
		return "", false
	}
	return unescape.Replace(fields[4]), true
}

// findContainer finds the cgroup of a container by its id or the start of it: container
// engines make it part of the folder's name. A name that has it as a whole word wins over
// names that begin a word with it; more than one of a kind is an error.
func findContainer(root, id string) (string, error) {
	if id == "" {
		return "", fmt.Errorf("container: empty id")
	}
	var whole, begun []string
	err := walkCgroups(root, func(path string, d fs.DirEntry) error {
		starts, ends := wordIn(d.Name(), id)
		switch below := strings.TrimPrefix(path, root); {
		case !starts || path == root:
			return nil
		case ends:
			whole = append(whole, below)
		default:
			begun = append(begun, below)
		}
		return filepath.SkipDir // what is in it belongs to it
	})
	if err != nil {
		return "", fmt.Errorf("find container %s: %w", id, err)
	}
	found := whole
	if len(found) == 0 {
		found = begun
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("container %s: no cgroup in %s has this name", id, root)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("container %s: matches %s", id, strings.Join(found[:min(3, len(found))], ", "))
}

// walkCgroups calls fn for every cgroup, from the root on.
func walkCgroups(root string, fn func(path string, d fs.DirEntry) error) error {
	seen := 0
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // groups come and go
		}
		if seen++; seen > maxCgroups {
			return fmt.Errorf("more than %d cgroups", maxCgroups)
		}
		return fn(path, d)
	})
}

// wordIn reports whether a word of the name starts with id, and whether it ends there.
// The monitor of a container (conmon) is not the container.
func wordIn(name, id string) (starts, ends bool) {
	if strings.Contains(name, "conmon-") {
		return false, false
	}
	for at := 0; ; {
		i := strings.Index(name[at:], id)
		if i < 0 {
			return starts, false
		}
		at += i
		if at == 0 || !alphanumeric(name[at-1]) {
			starts = true
			if end := at + len(id); end == len(name) || !alphanumeric(name[end]) {
				return true, true
			}
		}
		at++
	}
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
