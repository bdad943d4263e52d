package fence

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The filters are few and flat, so they are written here rather than compiled by a library:
// an instruction asks for a number, the next one answers.

// Rule allows a system call, whatever its arguments are or looking at one of them. Of that the
// lower half decides: flags, families and descriptors have no more.
type Rule struct {
	Call uintptr
	Arg  int    // which one, counted from 0
	None uint32 // bits that it must have none of; 0: it does not matter
	Some uint32 // bits that it must have one of
	Only uint32 // what it must be
}

// Offsets in struct seccomp_data; arguments are of 64 bits, little end first.
const (
	dataNr   = 0
	dataArch = 4
	dataArgs = 16
)

// x32 is the bit of system calls in a second table of x86-64.
const x32 = 0x40000000

// refused is what a system call beyond the fence returns: a library that can do without goes on.
const refused = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)

var arches = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

func stmt(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no}
}

const (
	load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	least = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	anyOf = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	give  = unix.BPF_RET | unix.BPF_K
)

// begin refuses calls of other machines and tables, and loads the number of the call. clone3,
// whose flags are out of sight, is unknown: libraries then use clone.
func begin(arch uint32) []unix.SockFilter {
	return []unix.SockFilter{
		stmt(load, dataArch), jump(equal, arch, 1, 0), stmt(give, refused),
		stmt(load, dataNr), jump(least, x32, 0, 1), stmt(give, refused),
		jump(equal, unix.SYS_CLONE3, 0, 1), stmt(give, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)),
	}
}

// test asks an argument what a rule demands of it: the next instruction is for those that pass.
func (r Rule) test() unix.SockFilter {
	switch {
	case r.None != 0:
		return jump(anyOf, r.None, 1, 0)
	case r.Some != 0:
		return jump(anyOf, r.Some, 0, 1)
	}
	return jump(equal, r.Only, 0, 1)
}

// allowing is the filter that lets nothing through but the rules.
func allowing(arch uint32, rules []Rule) []unix.SockFilter {
	f := begin(arch)
	for _, r := range rules {
		if r.None|r.Some|r.Only == 0 {
			f = append(f, jump(equal, uint32(r.Call), 0, 1), stmt(give, unix.SECCOMP_RET_ALLOW))
			continue
		}
		f = append(f, jump(equal, uint32(r.Call), 0, 4), stmt(load, uint32(dataArgs+8*r.Arg)), r.test(),
			stmt(give, unix.SECCOMP_RET_ALLOW), stmt(load, dataNr))
	}
	return append(f, stmt(give, refused))
}

// denying is the filter that lets everything through but the calls, and sockets of these
// families only.
func denying(arch uint32, calls []uintptr, families []uint32) []unix.SockFilter {
	f := begin(arch)
	for _, c := range calls {
		f = append(f, jump(equal, uint32(c), 0, 1), stmt(give, refused))
	}
	f = append(f,
		jump(equal, unix.SYS_CLONE, 0, 3), stmt(load, dataArgs), jump(anyOf, unix.CLONE_THREAD, 1, 0), stmt(give, refused),
		stmt(load, dataNr), jump(equal, unix.SYS_SOCKET, 1, 0), stmt(give, unix.SECCOMP_RET_ALLOW), stmt(load, dataArgs))
	for _, family := range families {
		f = append(f, jump(equal, family, 0, 1), stmt(give, unix.SECCOMP_RET_ALLOW))
	}
	return append(f, stmt(give, refused))
}

// enforce puts a filter on all threads of the process, for good. It takes no_new_privs, which
// priv.Drop sets. A kernel or machine without filters has none: an old one still records.
func enforce(make func(arch uint32) []unix.SockFilter) error {
	arch, ok := arches[runtime.GOARCH]
	if !ok {
		return nil
	}
	f := make(arch)
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	tid, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	switch {
	case errno == unix.ENOSYS || errno == unix.EINVAL: // built without
		return nil
	case errno == unix.EPERM && filtered(): // whoever started this, a service manager for one, has shut the door
		return nil
	case errno != 0:
		return fmt.Errorf("filter system calls: %w", errno)
	case tid != 0:
		return fmt.Errorf("filter system calls: thread %d stayed out", tid)
	}
	return nil
}

// filtered reports whether this process is behind a filter already.
func filtered() bool {
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return err == nil && mode == unix.SECCOMP_MODE_FILTER
}

// Allow lets this process make only these calls from now on.
func Allow(rules []Rule) error {
	return enforce(func(arch uint32) []unix.SockFilter { return allowing(arch, rules) })
}

// Deny takes from this process calls that only somebody who has taken it over would make: it
// starts no process, traces none, changes nothing of the host, and opens sockets only to
// this host's service manager and kernel.
func Deny() error {
	return enforce(func(arch uint32) []unix.SockFilter {
		return denying(arch, denied, []uint32{unix.AF_UNIX, unix.AF_NETLINK})
	})
}
