package host

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"syscall"
	"time"
)

// cgroupPause is the time between two looks for groups that were not there: a look at
// thousands of groups takes a while.
const cgroupPause = 5 * time.Second

// Cgroups names cgroups of version 2 by the low half of their ids, as records have them.
type Cgroups struct {
	mu     sync.Mutex
	known  map[uint32]string
	looked time.Time
}

// Path is where a group is below the mount point, or its number: it may be gone by now.
func (c *Cgroups) Path(id uint32) string {
	if id == 0 {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.known[id]
	if !ok && time.Since(c.looked) > cgroupPause {
		c.look()
		p, ok = c.known[id]
	}
	if !ok {
		return fmt.Sprintf("#%d", id)
	}
	return p
}

// look takes down all groups there are. Those that are gone stay known, up to a limit: rows
// of theirs may still come.
func (c *Cgroups) look() {
	c.looked = time.Now()
	if c.known == nil || len(c.known) > maxCgroups {
		c.known = map[uint32]string{}
	}
	root, err := cgroupRoot()
	if err != nil {
		return // rows have numbers then
	}
	// What was found before too many is as good as all.
	_ = walkCgroups(root, func(path string, d fs.DirEntry) error {
		if fi, err := d.Info(); err == nil {
			if st, ok := fi.Sys().(*syscall.Stat_t); ok {
				c.known[uint32(st.Ino)] = "/" + strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
			}
		}
		return nil
	})
}
