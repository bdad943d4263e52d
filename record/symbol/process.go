package symbol

import (
	"errors"
	"fmt"
	"math"
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

	since  uint64   // monotonic ns: it has been this program since; 0: for as long as is known
	until  uint64   // it was seen to be, the last time
	before *process // the program that was in its place; that one knows of none before
}

// Latest is the time of who asks for what a process runs now.
const Latest = math.MaxUint64

// at is the program that was in the process at a time, nil if that is not known: an exec has
// put others in its place since.
func (p *process) at(ts uint64) *process {
	if ts >= p.since {
		return p
	}
	if b := p.before; b != nil && ts >= b.since && ts <= b.until {
		return b
	}
	return nil
}

// Execs tells when processes became another program.
type Execs interface {
	// Last is when a process last did, monotonic ns; 0 if it has not been seen to.
	Last(pid int32) uint64
	// Missed is when some may not have been seen, the last time.
	Missed() uint64
}

// NoExecs is Execs where the kernel does not tell.
type NoExecs struct{}

// Last knows of none.
func (NoExecs) Last(int32) uint64 { return 0 }

// Missed has not missed what it does not know of.
func (NoExecs) Missed() uint64 { return 0 }

// Mono is the clock of events and execs, in ns.
func Mono() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // fails only for a bad address
	return uint64(ts.Nano())
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
	now, asked := u.now(), Mono()
	last, missed := u.execs.Last(pid), u.execs.Missed()
	p, ok := u.processes.get(pid)
	if ok && last <= p.since && missed <= p.until && now.Sub(p.checked) < checkEvery {
		if u.execs != Execs(NoExecs{}) {
			p.until = asked
		}
		return p
	}
	id, alive := u.identify(pid)
	if !ok || last > p.since || alive && id != p.id {
		if !ok {
			last = max(last, missed) // another exec may be among those missed
		}
		p = u.succeed(p, &process{pid: pid, id: id, since: last})
		if alive {
			u.reread(p, now)
		}
	} else if alive && now.Sub(p.read) >= mapsEvery {
		u.reread(p, now)
	}
	p.checked, p.until = now, asked
	return p
}

// succeed puts a program in the place of another, nil for none. When that happened is known
// from the exec; else only that the old one was there when it was last looked at.
func (u *User) succeed(old, p *process) *process {
	u.gen++
	p.gen = u.gen
	if old != nil {
		if p.since > old.since {
			old.until = p.since - 1
		} else {
			p.since = Mono()
		}
		old.before, p.before = nil, old
	}
	u.processes.put(p.pid, p, p.weight())
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
	u.processes.put(p.pid, p, p.weight())
}

// weight is the memory that a process and its past take.
func (p *process) weight() int {
	if p == nil {
		return 0
	}
	n := processOverhead + p.before.weight()
	for i := range p.maps {
		n += mappingOverhead + len(p.maps[i].path)
	}
	return n
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
