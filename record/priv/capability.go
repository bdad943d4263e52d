package priv

import (
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// Cap is a capability, by its number in the kernel; see capabilities(7).
type Cap uint8

// Capabilities that recording may need.
const (
	DACReadSearch     Cap = unix.CAP_DAC_READ_SEARCH
	Kill              Cap = unix.CAP_KILL
	NetAdmin          Cap = unix.CAP_NET_ADMIN
	SysPtrace         Cap = unix.CAP_SYS_PTRACE
	SysAdmin          Cap = unix.CAP_SYS_ADMIN
	SysResource       Cap = unix.CAP_SYS_RESOURCE
	Syslog            Cap = unix.CAP_SYSLOG
	Perfmon           Cap = unix.CAP_PERFMON
	BPF               Cap = unix.CAP_BPF
	CheckpointRestore Cap = unix.CAP_CHECKPOINT_RESTORE

	setpcap Cap = unix.CAP_SETPCAP
	setuid  Cap = unix.CAP_SETUID
	setgid  Cap = unix.CAP_SETGID
)

var capNames = map[Cap]string{
	DACReadSearch: "CAP_DAC_READ_SEARCH", Kill: "CAP_KILL", NetAdmin: "CAP_NET_ADMIN", SysPtrace: "CAP_SYS_PTRACE",
	SysAdmin: "CAP_SYS_ADMIN", SysResource: "CAP_SYS_RESOURCE", Syslog: "CAP_SYSLOG", Perfmon: "CAP_PERFMON",
	BPF: "CAP_BPF", CheckpointRestore: "CAP_CHECKPOINT_RESTORE", setpcap: "CAP_SETPCAP", setuid: "CAP_SETUID", setgid: "CAP_SETGID",
}

// String is the name as the manual writes it.
func (c Cap) String() string {
	if s, ok := capNames[c]; ok {
		return s
	}
	return fmt.Sprintf("capability %d", uint8(c))
}

// capSet is a set of capabilities, one bit each as /proc/PID/status shows them.
type capSet uint64

func setOf(caps ...Cap) capSet {
	var s capSet
	for _, c := range caps {
		s |= 1 << c
	}
	return s
}

func (s capSet) has(c Cap) bool { return s>>c&1 != 0 }

// capData is what capget and capset exchange: two words of each set.
type capData [2]unix.CapUserData

func (d *capData) effective() capSet {
	return capSet(d[0].Effective) | capSet(d[1].Effective)<<32
}

func (d *capData) permitted() capSet {
	return capSet(d[0].Permitted) | capSet(d[1].Permitted)<<32
}

// exactly is the data of a thread with these capabilities and nothing to inherit.
func exactly(s capSet) capData {
	lo, hi := uint32(s), uint32(s>>32)
	return capData{{Effective: lo, Permitted: lo}, {Effective: hi, Permitted: hi}}
}

// held reads the capabilities of the calling thread.
func held() (capData, error) {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var d capData
	if err := unix.Capget(&hdr, &d[0]); err != nil {
		return d, fmt.Errorf("read own capabilities: %w", err)
	}
	return d, nil
}

// setAll gives every thread of the process these capabilities.
func setAll(d *capData) error {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	_, _, errno := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&hdr)), uintptr(unsafe.Pointer(&d[0])), 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func names(caps []Cap) string {
	s := make([]string, len(caps))
	for i, c := range caps {
		s[i] = c.String()
	}
	if n := len(s); n > 1 {
		return strings.Join(s[:n-1], ", ") + " and " + s[n-1]
	}
	return strings.Join(s, "")
}
