package record

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"netrec/schema"
)

// Pace of the drain loop. The probes wake it when a ring is a quarter full, so the
// tick only bounds how old a row gets before it is seen.
const (
	tick   = 100 * time.Millisecond
	moment = 10 * time.Millisecond
)

// ringHeader is what the kernel puts before each record of a ring, in bytes.
const ringHeader = 8

// drain empties the rings into piles.
type drain struct {
	readers []*ringbuf.Reader
	epoll   int
	rec     ringbuf.Record
	pile    *pile
	cpus    int
	dropped tally // rows for which no pile had room
	fix     func(rec []byte)
	total   int64
	unknown int64 // records of no known event or size: a broken object
}

func newDrain(rings []*ebpf.Map, cpus int, dropped tally) (*drain, error) {
	d := &drain{cpus: cpus, dropped: dropped}
	var err error
	if d.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("create epoll: %w", err)
	}
	for i, m := range rings {
		r, err := ringbuf.NewReader(m)
		if err != nil {
			return nil, fmt.Errorf("map ring %d: %w", i, err)
		}
		r.SetDeadline(time.Unix(1, 0)) // never wait inside a reader
		d.readers = append(d.readers, r)
		ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(i)}
		if err := unix.EpollCtl(d.epoll, unix.EPOLL_CTL_ADD, m.FD(), &ev); err != nil {
			return nil, fmt.Errorf("watch ring %d: %w", i, err)
		}
	}
	return d, nil
}

// wait returns when a probe wakes the recorder or the time is up.
func (d *drain) wait(t time.Duration) error {
	var evs [16]unix.EpollEvent
	_, err := unix.EpollWait(d.epoll, evs[:], int(max(t, 0)/time.Millisecond))
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("wait for rings: %w", err)
	}
	return nil
}

// all moves what is in the rings now into the pile. What comes meanwhile is left for
// the next call, so that one busy ring can keep neither the others nor commits waiting.
func (d *drain) all() error {
	for i, r := range d.readers {
		for left := r.AvailableBytes(); left > 0; left -= len(d.rec.RawSample) + ringHeader {
			err := r.ReadInto(&d.rec)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return fmt.Errorf("read ring %d: %w", i, err)
			}
			d.one(d.rec.RawSample)
		}
	}
	return nil
}

func (d *drain) one(rec []byte) {
	if len(rec) < cpuOffset+2 {
		d.unknown++
		return
	}
	id, cpu := recordEvent(rec), recordCPU(rec)
	e := schema.ByID(id)
	if e == nil || len(rec) < e.Size() || cpu >= d.cpus {
		d.unknown++
		return
	}
	rec = rec[:e.Size()]
	d.total++
	if d.fix != nil {
		d.fix(rec)
	}
	if !d.pile.add(id, cpu, rec) {
		atomic.AddInt64(d.dropped.at(id, cpu), 1)
	}
}

func (d *drain) close() {
	for _, r := range d.readers {
		r.Close()
	}
	unix.Close(d.epoll)
}
