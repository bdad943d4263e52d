package priv

import (
	"os"
	"strconv"
	"strings"
)

// upstreamParanoia is the highest kernel.perf_event_paranoid that Linux itself knows. Debian
// and others have a further one, their default: then perf events are CAP_SYS_ADMIN's alone,
// whatever CAP_PERFMON is for.
const upstreamParanoia = 2

// Paranoid gives kernel.perf_event_paranoid where it keeps perf events from a process with
// CAP_PERFMON, and 0 where it does not.
func Paranoid() int {
	b, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || n <= upstreamParanoia {
		return 0
	}
	return n
}
