package host

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"netrec/schema"
)

// machine describes the host and its time zone.
func machine() schema.Host {
	var u unix.Utsname
	_ = unix.Uname(&u) // fails only for a bad address
	zone, offset := time.Now().Zone()
	if name := zoneName(); name != "" {
		zone = name
	}
	return schema.Host{
		Name:    unix.ByteSliceToString(u.Nodename[:]),
		Kernel:  unix.ByteSliceToString(u.Release[:]),
		Machine: unix.ByteSliceToString(u.Machine[:]),
		BootID:  firstLine("/proc/sys/kernel/random/boot_id"),
		CPUs:    countCPUs(firstLine("/sys/devices/system/cpu/online")),
		Zone:    zone,
		Offset:  offset,
	}
}

// zoneName is the name of the local time zone in the zone database, which, unlike
// an abbreviation, says when summer time begins; "" where the host does not tell.
func zoneName() string {
	if tz, ok := os.LookupEnv("TZ"); ok {
		if tz = strings.TrimPrefix(tz, ":"); tz == "" {
			return "UTC"
		} else if !strings.HasPrefix(tz, "/") {
			return tz
		}
		return afterZoneinfo(tz)
	}
	link, err := os.Readlink("/etc/localtime")
	if err != nil {
		return ""
	}
	return afterZoneinfo(link)
}

func afterZoneinfo(path string) string {
	_, name, _ := strings.Cut(path, "/zoneinfo/")
	return name
}

// countCPUs counts a list such as "0-3,8-11"; 0 where it cannot be read.
func countCPUs(list string) int {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		if !isRange {
			hi = lo
		}
		a, err := strconv.Atoi(lo)
		b, err2 := strconv.Atoi(hi)
		if err != nil || err2 != nil || b < a || b-a > 1<<20 {
			return 0
		}
		n += b - a + 1
	}
	return n
}

// firstLine reads the first line of a small file; "" if there is none.
func firstLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Scan()
	return s.Text()
}

// anchorTries is how often the two clocks are read to find a pair that no
// interrupt came between.
const anchorTries = 32

// Anchor reads the monotonic clock that events carry together with the wall
// clock; at is start, commit or stop.
func Anchor(at string) schema.Anchor {
	a := schema.Anchor{At: at, Jitter: -1}
	for range anchorTries {
		before := clock(unix.CLOCK_MONOTONIC)
		wall := clock(unix.CLOCK_REALTIME)
		after := clock(unix.CLOCK_MONOTONIC)
		if d := after - before; a.Jitter < 0 || d < a.Jitter {
			a.Mono, a.Wall, a.Jitter = before+d/2, wall, d
		}
	}
	return a
}

func clock(id int32) int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(id, &ts) // both clocks exist on every Linux
	return ts.Nano()
}
