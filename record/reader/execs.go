package reader

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"netrec/record/perfring"
	"netrec/record/symbol"
)

// Bounds of what is remembered of execs.
const (
	execPages = 8 // of a CPU's ring: room for some 700
	maxExecs  = 1 << 16
)

// execEvery is how long execs may gather.
const execEvery = time.Second

// execs knows when processes became another program, from the kernel's messages about it. A
// stack is named up to a second after it was taken, from the program that is there by then.
type execs struct {
	mu     sync.Mutex
	rings  []*perfring.Ring
	last   map[int32]uint64 // monotonic ns, by process
	missed uint64
}

// watchExecs opens the messages, which takes a privilege, and keeps reading them.
func watchExecs() (*execs, error) {
	cpus, err := perfring.OnlineCPUs()
	if err != nil {
		return nil, err
	}
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Sample_type: unix.PERF_SAMPLE_TIME, Clockid: unix.CLOCK_MONOTONIC,
		Bits: unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitSampleIDAll | unix.PerfBitUseClockID}
	x := &execs{last: map[int32]uint64{}}
	for _, cpu := range cpus {
		r, err := perfring.Open(cpu, attr, execPages)
		if errors.Is(err, unix.ENODEV) {
			continue // went offline meanwhile
		}
		if err != nil {
			x.close()
			return nil, err
		}
		x.rings = append(x.rings, r)
	}
	return x, nil
}

// execsOrNone watches for execs where the kernel lets it.
func execsOrNone() symbol.Execs {
	x, err := watchExecs()
	if err != nil {
		return symbol.NoExecs{}
	}
	go x.keepReading()
	return x
}

func (x *execs) close() {
	for _, r := range x.rings {
		_ = r.Close()
	}
}

// keepReading empties the rings also while nobody asks.
func (x *execs) keepReading() {
	for range time.Tick(execEvery) {
		x.Missed()
	}
}

// Last is when a process last became another program, 0 if it has not since this watches.
func (x *execs) Last(pid int32) uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	return x.last[pid]
}

// Missed is when some execs were not told of, the last time.
func (x *execs) Missed() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read()
	return x.missed
}

func (x *execs) read() {
	for _, r := range x.rings {
		r.Each(func(kind uint32, misc uint16, body []byte) {
			switch {
			case kind == unix.PERF_RECORD_LOST:
				x.missed = symbol.Mono()
			case kind == unix.PERF_RECORD_COMM && misc&unix.PERF_RECORD_MISC_COMM_EXEC != 0:
				x.note(body)
			}
		})
	}
}

// note reads a message: process, thread, name, and the time at its end.
func (x *execs) note(body []byte) {
	const ids, time = 8, 8
	if len(body) < ids+time {
		return
	}
	if len(x.last) >= maxExecs {
		clear(x.last)
		x.missed = symbol.Mono()
	}
	pid, ts := int32(binary.NativeEndian.Uint32(body)), binary.NativeEndian.Uint64(body[len(body)-time:])
	x.last[pid] = max(x.last[pid], ts) // of two on different CPUs, the later may be read first
}
