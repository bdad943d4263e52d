package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// namedDirs hold bind mounts of namespaces: ip netns, and Docker's.
var namedDirs = []string{"/run/netns", "/run/docker/netns"}

// maxPid is the kernel's own limit of process ids. Inode numbers of namespaces
// are near the end of 32 bits, which tells the two apart in a filter.
const maxPid = 1 << 22

// namespace is one network namespace and a way into it.
type namespace struct {
	inode uint32
	path  string // of its file, in /proc or a bind mount
	own   bool   // the one this process runs in
	pid   int    // a process in it; 0 if none was seen
}

// NetnsInode finds the network namespace that spec names: "self", a name in
// /run/netns, a path, a process id, or an inode number as `ls -l /proc/PID/ns`
// shows it. A name wins over a number. It returns the inode, which events carry,
// and the path of a file through which the namespace can be entered.
func NetnsInode(spec string) (uint32, string, error) {
	path := ""
	switch n, err := strconv.ParseUint(spec, 10, 32); {
	case spec == "":
		return 0, "", fmt.Errorf("network namespace: empty name")
	case spec == "self":
		path = "/proc/self/ns/net"
	case strings.ContainsRune(spec, '/'):
		path = spec
	case isNetns(filepath.Join(namedDirs[0], spec)):
		path = filepath.Join(namedDirs[0], spec)
	case err == nil && n > maxPid:
		list, _, err := findNamespaces(context.Background(), uint32(n))
		if err != nil {
			return 0, "", err
		}
		return list[0].inode, list[0].path, nil
	case err == nil:
		path = fmt.Sprintf("/proc/%d/ns/net", n)
	default:
		return 0, "", fmt.Errorf("network namespace %q: not in %s, and neither a path, a process id nor an inode number", spec, namedDirs[0])
	}
	inode, err := netnsInode(path)
	if err != nil {
		return 0, "", fmt.Errorf("network namespace %q: %w", spec, err)
	}
	return inode, path, nil
}

// isNetns reports whether path can be entered as a network namespace.
func isNetns(path string) bool {
	_, err := netnsInode(path)
	return err == nil
}

// netnsInode checks that path is a network namespace and returns its inode. The
// path is opened without effect on what it may be instead (a device, a FIFO).
func netnsInode(path string) (uint32, error) {
	probe, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(probe)
	var fs unix.Statfs_t
	if err := unix.Fstatfs(probe, &fs); err != nil {
		return 0, fmt.Errorf("statfs %s: %w", path, err)
	}
	if fs.Type != unix.NSFS_MAGIC {
		return 0, fmt.Errorf("%s: not a namespace", path)
	}
	fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", probe), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd)
	if kind, err := unix.IoctlRetInt(fd, unix.NS_GET_NSTYPE); err != nil || kind != unix.CLONE_NEWNET {
		return 0, fmt.Errorf("%s: not a network namespace", path)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, fmt.Errorf("stat %s: %w", path, err)
	}
	return uint32(st.Ino), nil
}

// findNamespaces lists distinct namespaces, own one first; only the wanted one if
// want is not 0. more is how many were left out by the limit.
func findNamespaces(ctx context.Context, want uint32) (list []namespace, more int, err error) {
	seen := map[uint32]int{} // position in list, -1 beyond the limit
	add := func(ns namespace) (done bool) {
		if want != 0 && ns.inode != want {
			return false
		}
		if i, ok := seen[ns.inode]; ok {
			if i >= 0 && list[i].pid == 0 {
				list[i].pid = ns.pid
			}
			return false
		}
		if len(list) == MaxNamespaces {
			seen[ns.inode] = -1
			more++
			return false
		}
		seen[ns.inode] = len(list)
		list = append(list, ns)
		return ns.inode == want
	}
	const self = "/proc/self/ns/net"
	if inode, err := netnsInode(self); err == nil && add(namespace{inode: inode, path: self, own: true}) {
		return list, 0, nil
	}
	for _, dir := range namedDirs {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if inode, err := netnsInode(path); err == nil && add(namespace{inode: inode, path: path}) {
				return list, 0, nil
			}
		}
	}
	err = eachPid(ctx, func(pid int) bool {
		path := fmt.Sprintf("/proc/%d/ns/net", pid)
		inode, ok := linkInode(path, "net:[")
		return !ok || !add(namespace{inode: inode, path: path, pid: pid})
	})
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("find network namespaces: %w", err)
	case want != 0 && len(list) == 0:
		return nil, 0, fmt.Errorf("network namespace %d: no process or name shows it", want)
	}
	return list, more, nil
}

// linkInode reads the number out of a /proc link such as "net:[4026531840]".
func linkInode(path, prefix string) (uint32, bool) {
	var buf [64]byte
	n, err := unix.Readlink(path, buf[:])
	if err != nil || n <= len(prefix) || string(buf[:len(prefix)]) != prefix || buf[n-1] != ']' {
		return 0, false
	}
	inode, err := strconv.ParseUint(string(buf[len(prefix):n-1]), 10, 32)
	return uint32(inode), err == nil
}

// do runs f on a thread inside the namespace. The thread is never unlocked, so
// the runtime destroys it instead of giving it to another goroutine.
func (ns *namespace) do(f func()) error {
	if ns.own {
		f()
		return nil
	}
	done := make(chan error, 1)
	go onThread(func() {
		done <- func() error {
			h, err := netns.GetFromPath(ns.path)
			if err != nil {
				return fmt.Errorf("open: %w", err)
			}
			defer h.Close()
			var st unix.Stat_t
			if err := unix.Fstat(int(h), &st); err != nil || uint32(st.Ino) != ns.inode {
				return fmt.Errorf("gone")
			}
			if err := netns.Set(h); err != nil {
				return fmt.Errorf("enter: %w", err)
			}
			f()
			return nil
		}()
	})
	return <-done
}

// onThread calls f on a locked thread that is not the process's first: that one
// cannot be destroyed, and /proc/self speaks of it.
func onThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	defer runtime.UnlockOSThread()
	done := make(chan struct{})
	go onThread(func() { defer close(done); f() })
	<-done
}
