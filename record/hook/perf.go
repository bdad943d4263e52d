package hook

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"netrec/record/perfring"
	"netrec/schema"
)

// perfEvent is an open event of perf; closing it detaches its program.
type perfEvent int

func (fd perfEvent) Close() error { return unix.Close(int(fd)) }

// softwareEvents are the events of perf that a hook may name.
var softwareEvents = map[string]uint64{"cpu-clock": unix.PERF_COUNT_SW_CPU_CLOCK}

// timer is an event of perf that stands on every CPU.
type timer struct {
	prog   *ebpf.Program
	hook   schema.Hook
	config uint64
	hertz  uint64
	on     map[int]bool // CPUs that were online at the last look
}

// linkPerf opens the event on every CPU that is online; Newcomers does on those that come
// later. A link of the kernel's own would need 5.15, closing the event does the same.
func (s *Set) linkPerf(h schema.Hook, p *ebpf.Program) ([]io.Closer, error) {
	name, freq, _ := strings.Cut(h.Target, "@")
	config, ok := softwareEvents[name]
	hertz, err := strconv.ParseUint(freq, 10, 32)
	if !ok || err != nil {
		return nil, fmt.Errorf("no event of perf %q", h.Target)
	}
	cpus, err := perfring.OnlineCPUs()
	if err != nil {
		return nil, err
	}
	t := &timer{prog: p, hook: h, config: config, hertz: hertz, on: map[int]bool{}}
	var open []io.Closer
	for _, cpu := range cpus {
		fd, err := openPerf(config, hertz, cpu, p)
		if errors.Is(err, unix.ENODEV) {
			continue // went offline meanwhile
		}
		if err != nil {
			for _, e := range open {
				e.Close()
			}
			return nil, fmt.Errorf("cpu %d: %w", cpu, err)
		}
		t.on[cpu] = true
		open = append(open, fd)
	}
	s.timers = append(s.timers, t)
	return open, nil
}

// Newcomers opens the events of perf on CPUs that came online since the last look, where the
// recorder still may, and says which came. An event does not outlive its CPU: one that went
// and came back is new.
func (s *Set) Newcomers() (late []schema.Late) {
	if len(s.timers) == 0 {
		return nil
	}
	cpus, err := perfring.OnlineCPUs()
	if err != nil {
		return nil
	}
	for _, t := range s.timers {
		was := t.on
		t.on = map[int]bool{}
		for _, cpu := range cpus {
			t.on[cpu] = true
			if was[cpu] {
				continue
			}
			fd, err := openPerf(t.config, t.hertz, cpu, t.prog)
			if errors.Is(err, unix.ENODEV) {
				t.on[cpu] = false
				continue
			}
			l := schema.Late{Event: s.eventOf(t.hook), Place: fmt.Sprintf("CPU %d", cpu)}
			if err != nil {
				l.Why = err.Error()
			} else {
				s.links = append(s.links, fd)
			}
			late = append(late, l)
		}
	}
	return late
}

// eventOf is the name of the event that a hook was attached for.
func (s *Set) eventOf(h schema.Hook) string {
	for i := range s.Plans {
		if slices.Contains(s.Plans[i].Hooks, h) {
			return s.Plans[i].Event.Name
		}
	}
	return ""
}

func openPerf(config, hertz uint64, cpu int, p *ebpf.Program) (perfEvent, error) {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: config, Sample: hertz,
		Bits: unix.PerfBitFreq | unix.PerfBitDisabled | unix.PerfBitExcludeIdle, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return -1, err
	}
	if err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, p.FD()); err == nil {
		err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return perfEvent(fd), nil
}
