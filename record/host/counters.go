package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxCounterFile bounds what is read of one counter file.
const maxCounterFile = 1 << 20

// Counters reads the protocol counters of the recorded namespaces, as often as
// asked, also after the privilege to enter them is gone. A namespace that was
// filtered for is held open. Of others only a process in them is remembered:
// holding them would keep the devices of finished containers alive.
type Counters struct {
	sources []*source
	left    int // namespaces without a process
}

// Of is which namespaces the sums are of, and how many are left out.
func (c *Counters) Of() (netns []uint32, left int) {
	for _, s := range c.sources {
		netns = append(netns, s.inode)
	}
	return netns, c.left
}

// source is one namespace: files held open, or a directory of /proc.
type source struct {
	inode uint32
	held  [len(counterFiles)]*os.File
	pid   int    // of a process in the namespace, 0 if held
	start string // when it started; another process may get its pid
	last  map[string]int64
}

// Read sums the counters over the namespaces. A namespace that has ended counts
// with what was read of it last, and is counted in gone.
func (c *Counters) Read() (sum map[string]int64, gone int) {
	sum = map[string]int64{}
	for _, s := range c.sources {
		m, err := s.read()
		if err != nil {
			gone++
			m = s.last
		}
		s.last = m
		for name, v := range m {
			sum[name] += v
		}
	}
	return sum, gone
}

// Close lets go of what is held open.
func (c *Counters) Close() error {
	for _, s := range c.sources {
		for _, f := range s.held {
			if f != nil {
				f.Close()
			}
		}
	}
	c.sources = nil
	return nil
}

// hold opens the counters of the namespace that the calling thread is in.
func (c *Counters) hold(inode uint32) error {
	s := &source{inode: inode}
	for i, name := range counterFiles {
		f, err := os.Open("/proc/thread-self/net/" + name)
		if err != nil && !(name == "snmp6" && errors.Is(err, os.ErrNotExist)) {
			return err
		}
		s.held[i] = f
	}
	c.sources = append(c.sources, s)
	return nil
}

// follow remembers a process in the namespace.
func (c *Counters) follow(inode uint32, pid int) {
	c.sources = append(c.sources, &source{inode: inode, pid: pid, start: startTime(pid)})
}

func (s *source) read() (map[string]int64, error) {
	m := map[string]int64{}
	if s.pid != 0 {
		err := s.readProcess(m)
		return m, err
	}
	for i, f := range s.held {
		if f == nil {
			continue
		}
		// The kernel counts anew for each reading that begins at 0.
		if err := parseCounters(m, counterFiles[i], io.NewSectionReader(f, 0, maxCounterFile)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (s *source) readProcess(m map[string]int64) error {
	for _, name := range counterFiles {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", s.pid, name))
		if err != nil && name == "snmp6" && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = parseCounters(m, name, io.LimitReader(f, maxCounterFile))
		f.Close()
		if err != nil {
			return err
		}
	}
	if s.start == "" || startTime(s.pid) != s.start {
		return fmt.Errorf("process %d has ended", s.pid)
	}
	return nil
}

// startTime is when a process started, in clock ticks since boot; "" if it has ended.
func startTime(pid int) string {
	line := firstLine(fmt.Sprintf("/proc/%d/stat", pid))
	// The name, in parentheses, may hold anything; 20 fields follow it up to starttime.
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}
