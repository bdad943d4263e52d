package perfring

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// OnlineCPUs are those that a ring can be opened for.
func OnlineCPUs() ([]int, error) {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("which CPUs are online: %w", err)
	}
	return parseCPUs(strings.TrimSpace(string(b)))
}

// parseCPUs reads a list like 0-3,8.
func parseCPUs(list string) ([]int, error) {
	const most = 1 << 14
	var cpus []int
	for _, part := range strings.Split(list, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(lo)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(hi)
		}
		if err != nil || first < 0 || last < first || last >= most {
			return nil, fmt.Errorf("list of CPUs %q: not numbers and ranges", list)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
