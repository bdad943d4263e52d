package host

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// cgroupShare is which part of the time may go into looking for groups: rows with a group
// that is not known come while rings fill.
const cgroupShare = 20

// Cgroups names cgroups of version 2 by the low half of their ids, as records have them.
type Cgroups struct {
	mu    sync.Mutex
	known map[uint32]string // also those that were looked for in vain, as numbers
	next  time.Time         // not looked again before
}

// Path is where a group is below the mount point, or its number: it may be gone by now.
func (c *Cgroups) Path(id uint32) string {
	if id == 0 {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.known[id]; ok {
		return p
	}
	number := fmt.Sprintf("#%d", id)
	began := time.Now()
	if began.Before(c.next) {
		return number
	}
	if root, err := cgroupRoot(); err == nil {
		c.look(root)
	}
	c.next = time.Now().Add(cgroupShare * time.Since(began))
	if c.known[id] == "" {
		c.note(id, number)
	}
	return c.known[id]
}

// look takes down all groups below the root. Those that are gone stay known: rows of theirs
// may still come.
func (c *Cgroups) look(root string) {
	// What was found before too many is as good as all.
	_ = walkCgroups(root, func(path string, d fs.DirEntry) error {
		if fi, err := d.Info(); err == nil {
			if st, ok := fi.Sys().(*syscall.Stat_t); ok {
				c.note(uint32(st.Ino), "/"+strings.TrimPrefix(strings.TrimPrefix(path, root), "/"))
			}
		}
		return nil
	})
}

func (c *Cgroups) note(id uint32, path string) {
	if c.known == nil || len(c.known) > maxCgroups {
		c.known = map[uint32]string{}
	}
	c.known[id] = path
}

// cgroupOf is the group of version 2 of the process whose folder in /proc this is, "" where
// that cannot be read.
func cgroupOf(dir string) string {
	b, err := os.ReadFile(dir + "/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if path, ok := strings.CutPrefix(line, "0::"); ok {
			return strings.TrimSpace(path)
		}
	}
	return ""
}
