package priv

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Missing is the error of Need: capabilities without which nothing can be recorded.
type Missing struct {
	Caps []Cap

	// Stuck is set when the process is root and cannot become another user, which it
	// must once the probes are attached.
	Stuck bool

	// Contained is set when the process has capabilities, but only over a user
	// namespace of its own, where those for recording have no effect.
	Contained bool
}

// Error names the capabilities.
func (m *Missing) Error() string {
	if m.Contained {
		return "recording needs the capabilities of the host, this process has only those of a user namespace"
	}
	if m.Stuck {
		return fmt.Sprintf("recording as root needs %s, to stop being root", names(m.Caps))
	}
	return fmt.Sprintf("recording needs %s", names(m.Caps))
}

// Hint says what the user can do about it.
func (m *Missing) Hint() string {
	if m.Contained {
		return "run outside the container, or in one that shares the host's user namespace"
	}
	if m.Stuck {
		return "another user records with CAP_BPF and CAP_PERFMON alone"
	}
	return "run as root, or give the program what it needs: setcap " + setcapArg + " netrec"
}

// setcapArg is everything that Need and Lacks ask for.
const setcapArg = "cap_bpf,cap_perfmon,cap_sys_resource,cap_sys_ptrace,cap_dac_read_search,cap_syslog=ep"

// Need reports whether this process may record; if not, the error is a *Missing.
func Need() error {
	d, err := held()
	if err != nil {
		return err
	}
	caps := required(d.effective(), memlockCounts())
	if len(caps) == 0 && contained() {
		return &Missing{Contained: true}
	}
	if len(caps) > 0 {
		return &Missing{Caps: caps}
	}
	if caps := stuck(d.effective(), os.Geteuid() == 0); len(caps) > 0 {
		return &Missing{Caps: caps, Stuck: true}
	}
	return nil
}

// stuck lists what keeps root from becoming another user.
func stuck(s capSet, root bool) []Cap {
	var out []Cap
	for _, c := range []Cap{setuid, setgid} {
		if root && !s.has(c) {
			out = append(out, c)
		}
	}
	return out
}

// required lists what is missing from s. CAP_SYS_ADMIN was, until 5.8, what
// CAP_BPF and CAP_PERFMON are now, and still includes them.
func required(s capSet, memlock bool) []Cap {
	var out []Cap
	for _, c := range []Cap{BPF, Perfmon} {
		if !s.has(c) && !s.has(SysAdmin) {
			out = append(out, c)
		}
	}
	if memlock && !s.has(SysResource) {
		out = append(out, SysResource)
	}
	return out
}

// memlockCounts reports whether rings and maps are charged to RLIMIT_MEMLOCK and
// that limit stands in the way: so it is before 5.11.
func memlockCounts() bool {
	var u unix.Utsname
	_ = unix.Uname(&u) // fails only for a bad address
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &r) == nil && r.Cur == unix.RLIM_INFINITY {
		return false
	}
	return before(unix.ByteSliceToString(u.Release[:]), 5, 11)
}

// before compares a kernel's release.
func before(release string, major, minor int) bool {
	var a, b int
	if _, err := fmt.Sscanf(release, "%d.%d", &a, &b); err != nil {
		return false
	}
	return a < major || a == major && b < minor
}

// contained reports whether the process is in a user namespace other than the
// host's: only that one maps all ids to themselves.
func contained() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(b)), " ") != "0 0 4294967295"
}

// Lack is a capability without which a recording is possible, but poorer.
type Lack struct {
	Cap   Cap
	Loses string // what the recording will not have
}

// Lacks lists what a recording by this process will lack.
func Lacks() ([]Lack, error) {
	d, err := held()
	if err != nil {
		return nil, err
	}
	return lacks(d.effective(), os.Geteuid() == 0, Paranoid()), nil
}

// lacks takes root's own access to files and the kernel's reserve with perf events into account.
func lacks(s capSet, root bool, paranoid int) []Lack {
	var out []Lack
	loss := []Lack{
		{SysPtrace, "names in user stacks, or owners of older sockets, of other users"},
		{DACReadSearch, "names from programs that others may not read, or tracepoints of system calls"},
		{Syslog, "names of kernel functions in stacks"},
		{SysAdmin, "facts about other network namespaces, or name lookups on kernels since 6.16 and stable ones since 2025"},
	}
	if paranoid > 0 {
		loss = append(loss, Lack{SysAdmin, fmt.Sprintf("system calls, kprobes or CPU samples, as kernel.perf_event_paranoid is %d; 2 opens them", paranoid)})
	}
	for _, l := range loss {
		if !s.has(l.Cap) && !(l.Cap == DACReadSearch && root) {
			out = append(out, l)
		}
	}
	return out
}
