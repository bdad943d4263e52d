package symbol

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// How long what is known of a process is used without looking again.
const (
	checkEvery = 200 * time.Millisecond // is it still the same program
	missEvery  = time.Second            // an address was in no mapping, or had no JIT symbol
	mapsEvery  = 10 * time.Second       // libraries come and go
)

// identity is what changes when a pid is reused or the process execs.
type identity struct {
	start  string // start time, in clock ticks since boot
	exeDev uint64
	exeIno uint64
}

// process is what is known of one program in one process.
type process struct {
	pid     int32
	id      identity
	gen     uint64 // a new number whenever names may have changed
	checked time.Time
	read    time.Time
	maps    []mapping
	perf    perfMap
}

// identify reads who a process is; false if it has ended. One that is ending has a line in
// /proc until its parent looks, but no program any more.
func identify(pid int32) (identity, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return identity{}, false
	}
	// The name, in parentheses, may hold anything; starttime is the 20th field after it.
	line := string(b)
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 20 {
		return identity{}, false
	}
	id := identity{start: fields[19]}
	var st unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d/exe", pid), &st); err == nil {
		id.exeDev, id.exeIno = uint64(st.Dev), st.Ino
	} else if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) {
		return identity{}, false
	}
	return id, true
}

// identify is the same for a program on a file system that may not answer; one that does not
// is taken to have ended.
func (u *User) identify(pid int32) (identity, bool) {
	id, err := guarded(u.guard, func() (identity, error) {
		id, alive := identify(pid)
		if !alive {
			return id, os.ErrProcessDone
		}
		return id, nil
	})
	return id, err == nil
}

// process returns what is known of a pid, after making sure, now and then, that it
// is still the same program. Of one that has ended the last knowledge stays.
func (u *User) process(pid int32) *process {
	now := u.now()
	p, ok := u.processes.get(pid)
	if ok && now.Sub(p.checked) < checkEvery {
		return p
	}
	id, alive := u.identify(pid)
	if !ok || alive && id != p.id {
		u.gen++
		p = &process{pid: pid, id: id, gen: u.gen}
		u.processes.put(pid, p, processOverhead)
		if alive {
			u.reread(p, now)
		}
	} else if alive && now.Sub(p.read) >= mapsEvery {
		u.reread(p, now)
	}
	p.checked = now
	return p
}

// reread reads the mappings again; if that is refused those known stay.
func (u *User) reread(p *process, now time.Time) {
	p.read = now
	maps, err := guarded(u.guard, func() ([]mapping, error) {
		f, err := os.Open(fmt.Sprintf("/proc/%d/maps", p.pid))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readMaps(f)
	})
	if err != nil || len(maps) == 0 || sameMaps(maps, p.maps) {
		return
	}
	p.maps = maps
	u.gen++
	p.gen = u.gen
	weight := processOverhead
	for i := range maps {
		weight += mappingOverhead + len(maps[i].path)
	}
	u.processes.put(p.pid, p, weight)
}

// owner reads the effective user of a process and its pid in its own namespace.
func owner(pid int32) (uid uint32, inner int, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	found := false
	for line := range strings.SplitSeq(string(b), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		switch fields[0] {
		case "Uid:":
			n, err := strconv.ParseUint(fields[min(2, len(fields)-1)], 10, 32)
			uid, found = uint32(n), err == nil
		case "NSpid:":
			inner, _ = strconv.Atoi(fields[len(fields)-1])
		}
	}
	if !found {
		return 0, 0, fmt.Errorf("process %d: no user in its status", pid)
	}
	return uid, inner, nil
}
