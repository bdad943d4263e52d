package record

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"netrec/schema"
)

// Pace of the drain loop. The probes wake it when a ring is a quarter full, so the
// tick only bounds how old a row gets before it is seen.
const (
	tick   = 100 * time.Millisecond
	moment = 10 * time.Millisecond
)

// drain empties the rings into piles.
type drain struct {
	rings   []*ring
	woken   *os.File // an epoll instance of all rings
	wake    syscall.RawConn
	pile    *pile
	cpus    int
	sizes   []int // of records, by event; 0 for none
	fix     func(rec []byte)
	fixed   []bool // events that fix looks at
	total   int64
	unknown int64  // records of no known event or size: a broken object
	wakeAt  int    // bytes in a ring at which the probes wake the recorder, once per filling
	more    bool   // a ring holds so much again: there is no wake-up to wait for
	full    bool   // the pile was, and records were left in the rings
	until   uint64 // rows after this moment are left for the next time
}

func newDrain(rings []*ebpf.Map, wakeAt, cpus int) (*drain, error) {
	d := &drain{cpus: cpus, sizes: recordSizes(), wakeAt: wakeAt}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create epoll: %w", err)
	}
	if err := d.watch(epoll); err != nil {
		return nil, err
	}
	for i, m := range rings {
		r, err := mapRing(m)
		if err != nil {
			return nil, fmt.Errorf("ring %d: %w", i, err)
		}
		d.rings = append(d.rings, r)
		ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(i)}
		if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, m.FD(), &ev); err != nil {
			return nil, fmt.Errorf("watch ring %d: %w", i, err)
		}
	}
	return d, nil
}

func recordSizes() []int {
	sizes := make([]int, schema.MaxID)
	for i := range schema.Events {
		sizes[schema.Events[i].ID] = schema.Events[i].Size()
	}
	return sizes
}

// watch lets Go's runtime wait for the rings. A thread that waits in a system call of its own has
// the runtime look after it up to fifty times a millisecond, six thousand times a second in all.
func (d *drain) watch(epoll int) (err error) {
	if err := unix.SetNonblock(epoll, true); err != nil {
		return fmt.Errorf("set up epoll: %w", err)
	}
	d.woken = os.NewFile(uintptr(epoll), "rings")
	if err := d.woken.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("wait for rings: %w", err)
	}
	if d.wake, err = d.woken.SyscallConn(); err != nil {
		return fmt.Errorf("wait for rings: %w", err)
	}
	return nil
}

// wait returns when a probe wakes the recorder or the time is up. It does not wait where a ring filled up
// again while it was read, past the point at which it would wake.
func (d *drain) wait(t time.Duration) error {
	if d.more {
		return nil
	}
	if err := d.woken.SetReadDeadline(time.Now().Add(t)); err != nil {
		return fmt.Errorf("wait for rings: %w", err)
	}
	var evs [16]unix.EpollEvent
	var failed error
	err := d.wake.Read(func(fd uintptr) bool {
		n, err := unix.EpollWait(int(fd), evs[:], 0)
		if err != nil && !errors.Is(err, unix.EINTR) {
			failed = err
		}
		return n > 0 || failed != nil
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("wait for rings: %w", err)
	}
	return nil
}

// all moves what is in the rings now into the pile, as far as that has room: the rest is safe
// in the rings, and what finds no room there either the probes count. What comes meanwhile is
// left for the next call, so that one busy ring can keep neither the others nor commits waiting.
func (d *drain) all() {
	// Rings are read one after the other. Up to one moment in all of them, so that what a file
	// has lacks no rare row before it, also where the recorder is killed.
	d.full, d.more, d.until = false, false, uint64(mono())
	before := d.total
	for _, r := range d.rings {
		if r.each(d.one); d.full {
			return
		}
	}
	// Without progress there is a record that is being written before all others.
	d.more = d.total > before && slices.ContainsFunc(d.rings, func(r *ring) bool { return r.holds() >= d.wakeAt })
}

// anotherClock is how far a row is ahead, in ns, if its clock is not the recorder's: in a time
// namespace it is not. Such a row is not waited for.
const anotherClock = uint64(time.Hour)

// one takes a record, or reports that it must stay in its ring.
func (d *drain) one(rec []byte) bool {
	if len(rec) < cpuOffset+2 {
		d.unknown++
		return true
	}
	id, cpu := recordEvent(rec), recordCPU(rec)
	if int(id) >= len(d.sizes) || d.sizes[id] == 0 || len(rec) < d.sizes[id] || cpu >= d.cpus {
		d.unknown++
		return true
	}
	if ts := recordTime(rec); ts > d.until && ts-d.until < anotherClock {
		return false
	}
	rec = rec[:d.sizes[id]]
	if !d.pile.add(id, cpu, rec) {
		d.full = true
		return false
	}
	d.total++
	if d.fix != nil && d.fixed[id] {
		d.fix(rec)
	}
	return true
}

func (d *drain) close() {
	for _, r := range d.rings {
		r.close()
	}
	d.woken.Close()
}
