package host

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// namedDir is where ip netns keeps the namespaces it has named.
const namedDir = "/run/netns"

// maxPid is the kernel's own limit of process ids. Inode numbers of namespaces
// are near the end of 32 bits, which tells the two apart in a filter.
const maxPid = 1 << 22

// namespace is one network namespace and a way into it.
type namespace struct {
	inode uint32
	path  string // of its file, in /proc or a bind mount
	own   bool   // the one this process runs in
	pid   int    // a process in it; 0 if none was seen

	sysctls bool // its sysctls are wanted
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
	case isNetns(filepath.Join(namedDir, spec)):
		path = filepath.Join(namedDir, spec)
	case err == nil && n > maxPid:
		list, _, err := findNamespaces(context.Background(), []uint32{uint32(n)})
		if err != nil {
			return 0, "", err
		}
		return list[0].inode, list[0].path, nil
	case err == nil:
		path = fmt.Sprintf("/proc/%d/ns/net", n)
	default:
		return 0, "", fmt.Errorf("network namespace %q: not in %s, and neither a path, a process id nor an inode number", spec, namedDir)
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

// findNamespaces lists distinct namespaces, own one first; only the wanted ones if
// there are any. more is how many were left out by the limit.
func findNamespaces(ctx context.Context, want []uint32) (list []namespace, more int, err error) {
	want = slices.Compact(slices.Sorted(slices.Values(want)))
	seen := map[uint32]int{} // position in list, -1 beyond the limit
	add := func(ns namespace) (done bool) {
		if len(want) > 0 && !slices.Contains(want, ns.inode) {
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
		return len(list) == len(want)
	}
	const self = "/proc/self/ns/net"
	if inode, err := netnsInode(self); err == nil && add(namespace{inode: inode, path: self, own: true}) {
		return list, 0, nil
	}
	for _, m := range mountedNamespaces() {
		if add(m) {
			return list, 0, nil
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
	case len(list) < len(want):
		gone := slices.IndexFunc(want, func(inode uint32) bool { _, ok := seen[inode]; return !ok })
		return nil, 0, fmt.Errorf("network namespace %d: no process or name refers to it", want[gone])
	}
	return list, more, nil
}

// maxMounts bounds the search for named namespaces.
const maxMounts = 100_000

// mountedNamespaces lists network namespaces that are bind-mounted somewhere, as ip
// netns and container engines do to name them.
func mountedNamespaces() []namespace {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	defer f.Close()
	var out []namespace
	s := bufio.NewScanner(f)
	for n := 0; n < maxMounts && s.Scan(); n++ {
		if ns, ok := parseMount(s.Text()); ok {
			out = append(out, ns)
		}
	}
	return out
}

// parseMount reads a line of mountinfo: id, parent, device, root, mount point, …
func parseMount(line string) (namespace, bool) {
	fields := strings.SplitN(line, " ", 6)
	if len(fields) < 6 {
		return namespace{}, false
	}
	inode, ok := bracketed(fields[3], "net:[")
	return namespace{inode: inode, path: unescape.Replace(fields[4])}, ok
}

// unescape undoes what the kernel does to mount points.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// linkInode reads the number out of a /proc link such as "net:[4026531840]".
func linkInode(path, prefix string) (uint32, bool) {
	var buf [64]byte
	n, err := unix.Readlink(path, buf[:])
	if err != nil {
		return 0, false
	}
	return bracketed(string(buf[:n]), prefix)
}

func bracketed(s, prefix string) (uint32, bool) {
	s, ok := strings.CutPrefix(s, prefix)
	s, ok2 := strings.CutSuffix(s, "]")
	inode, err := strconv.ParseUint(s, 10, 32)
	return uint32(inode), ok && ok2 && err == nil
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
