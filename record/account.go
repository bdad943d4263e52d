package record

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"netrec/schema"
)

// counters is the probes' own account, mapped into memory: reading it takes no system
// call and no privilege.
type counters struct {
	mem  []byte
	cpus int
}

// Layout of struct cpu_counters in bpf/netrec.h; a test compares it with the object's BTF.
const (
	counterSize  = 40
	counterStart = 8
)

func counterStride() int { return counterStart + counterSize*schema.MaxID }

func mapCounters(fd, cpus int) (*counters, error) {
	page := os.Getpagesize()
	size := (counterStride()*cpus + page - 1) / page * page
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map counters of %d bytes: %w", size, err)
	}
	return &counters{mem, cpus}, nil
}

// sample is the account of one event on one CPU at one moment.
type sample struct{ generated, ring, scratch, rescued, thinned int64 }

func (c *counters) read(event uint16, cpu int) sample {
	off := counterStride()*cpu + counterStart + counterSize*int(event)
	p := (*[5]int64)(unsafe.Pointer(&c.mem[off]))
	return sample{atomic.LoadInt64(&p[0]), atomic.LoadInt64(&p[1]), atomic.LoadInt64(&p[2]), atomic.LoadInt64(&p[3]), atomic.LoadInt64(&p[4])}
}

// account knows what was generated, recorded and lost, and when losses were seen.
type account struct {
	counters *counters
	events   []*schema.Event
	seen     []sample // by event and CPU, at the last look
	seenAt   int64    // monotonic ns
	recorded tally    // by the writer, after a commit
	dropped  tally    // by the writer, for want of disk
	reported tally    // of dropped, already in a row
	made     tally    // by the recorder, from counters; no ring has them

	// What the kernel did not show because the probe was already running on that CPU.
	missed   func(e *schema.Event) int64 // asks the kernel; nil in tests
	before   []int64                     // by event, of those: until the recording began
	nested   []atomic.Int64              // by event
	calls    []atomic.Int64              // by event, those that counters have counted
	missedAt int64
}

// Asking the kernel takes a system call per program, so it is done less often.
const missedEvery = int64(time.Second)

func newAccount(c *counters, events []*schema.Event) *account {
	return &account{counters: c, events: events, seen: make([]sample, schema.MaxID*c.cpus),
		recorded: newTally(c.cpus), dropped: newTally(c.cpus), reported: newTally(c.cpus), made: newTally(c.cpus),
		nested: make([]atomic.Int64, schema.MaxID), calls: make([]atomic.Int64, schema.MaxID), before: make([]int64, schema.MaxID)}
}

// forgive leaves out what the kernel passed over until now: the recording has not begun.
func (a *account) forgive() {
	for _, e := range a.events {
		a.before[e.ID] = a.passed(e)
	}
}

// begin is the start of the time that the account is about.
func (a *account) begin(now int64) { a.seenAt, a.missedAt = now, now }

// passed is how many of an event the kernel passed over and no second program took.
func (a *account) passed(e *schema.Event) int64 {
	if a.missed == nil {
		return 0
	}
	n := a.missed(e)
	for cpu := range a.counters.cpus {
		n -= a.counters.read(e.ID, cpu).rescued
	}
	return n
}

// Values of the enum cause.
const (
	causeRing = iota + 1
	causeScratch
	causeWriter
	causeNested
)

// look appends a row to the pile for each event and CPU that lost something since
// the previous look; last is for the one at the end of the recording.
func (a *account) look(p *pile, now int64, header func(event uint16) schema.Header, last bool) error {
	for _, e := range a.events {
		for cpu := range a.counters.cpus {
			s := a.counters.read(e.ID, cpu)
			seen := &a.seen[int(e.ID)*a.counters.cpus+cpu]
			dropped := atomic.LoadInt64(a.dropped.at(e.ID, cpu))
			reported := a.reported.at(e.ID, cpu)
			for _, l := range []struct {
				cause uint8
				n     int64
			}{{causeRing, s.ring - seen.ring}, {causeScratch, s.scratch - seen.scratch}, {causeWriter, dropped - *reported}} {
				if l.n == 0 {
					continue
				}
				row := schema.Lost{Header: header(lostEvent.ID), Window: now - a.seenAt, Count: l.n, LostCPU: int32(cpu),
					LostEvent: e.ID, Cause: l.cause}
				if err := p.own(lostEvent.ID, row); err != nil {
					return err
				}
			}
			*seen, *reported = s, dropped
		}
	}
	a.seenAt = now
	if a.missed == nil || (now-a.missedAt < missedEvery && !last) {
		return nil
	}
	return a.lookNested(p, now, header)
}

// lookNested does the same for events that the kernel passed over. Those that a second
// program took are not lost.
func (a *account) lookNested(p *pile, now int64, header func(event uint16) schema.Header) error {
	for _, e := range a.events {
		n := a.passed(e) - a.before[e.ID]
		more := n - a.nested[e.ID].Load()
		if more <= 0 {
			continue
		}
		a.nested[e.ID].Store(n)
		row := schema.Lost{Header: header(lostEvent.ID), Window: now - a.missedAt, Count: more, LostCPU: -1, LostEvent: e.ID, Cause: causeNested}
		if err := p.own(lostEvent.ID, row); err != nil {
			return err
		}
	}
	a.missedAt = now
	return nil
}

// counts is the account as the file keeps it; at the end of a recording
// Generated = Recorded + Lost in every row.
func (a *account) counts() []schema.Count {
	var out []schema.Count
	a.each(func(c schema.Count) { out = append(out, c) })
	return out
}

// lost is how many events were lost so far.
func (a *account) lost() (n int64) {
	a.each(func(c schema.Count) { n += c.Lost() })
	return n
}

// each calls f with every line of the account that is not empty.
func (a *account) each(f func(schema.Count)) {
	for _, e := range a.events {
		for cpu := range a.counters.cpus {
			s := a.counters.read(e.ID, cpu)
			c := schema.Count{Event: e.Name, CPU: cpu, Generated: s.generated + atomic.LoadInt64(a.made.at(e.ID, cpu)), Ring: s.ring, Scratch: s.scratch,
				Recorded: atomic.LoadInt64(a.recorded.at(e.ID, cpu)), Writer: atomic.LoadInt64(a.dropped.at(e.ID, cpu)), Thinned: s.thinned}
			if c.Generated != 0 || c.Recorded != 0 || c.Thinned != 0 {
				f(c)
			}
		}
		if n := a.nested[e.ID].Load(); n > 0 {
			f(schema.Count{Event: e.Name, CPU: -1, Generated: n, Nested: n, Calls: a.calls[e.ID].Load()})
		}
	}
}

// addTo adds a tally that another goroutine may be reading.
func addTo(dst, src tally) {
	for i, v := range src.n {
		if v != 0 {
			atomic.AddInt64(&dst.n[i], v)
		}
	}
}

var (
	metaEvent = schema.ByName("meta")
	lostEvent = schema.ByName("lost")
	costEvent = schema.ByName("cost")
)
