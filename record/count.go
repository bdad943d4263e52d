package record

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"netrec/record/hook"
	"netrec/schema"
)

// counting makes rows of the counters of functions and tracepoints. They are mapped into
// memory: reading them takes no system call and no privilege.
type counting struct {
	mem   []byte
	cpus  int
	slots []countSlot
	seen  []uint64 // by CPU and slot, as the last row had it
	at    int64    // of the last look that found room for all, monotonic ns
	late  bool     // rows found no room in the pile
	rec   []byte
}

type countSlot struct {
	event  *schema.Event
	symbol uint32
}

// newCounting is nil where nothing is to be counted.
func newCounting(set *hook.Set, ref func(string) uint32, cpus int) (*counting, error) {
	if len(set.Counted) == 0 {
		return nil, nil
	}
	c := &counting{cpus: cpus, seen: make([]uint64, cpus*len(set.Counted))}
	page := os.Getpagesize()
	size := (8*len(c.seen) + page - 1) / page * page
	var err error
	if c.mem, err = unix.Mmap(set.Counts.FD(), 0, size, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("map counters of %d functions and tracepoints: %w", len(set.Counted), err)
	}
	for _, s := range set.Counted {
		c.slots = append(c.slots, countSlot{s.Event, ref(s.Name)})
	}
	return c, nil
}

// begin is the start of the first window.
func (c *counting) begin(now int64) {
	if c != nil {
		c.at = now
	}
}

// flush adds a row for each CPU and slot that has grown. What finds no room in the pile is
// left for the next look, which must not be long in coming: see owes.
func (c *counting) flush(p *pile, a *account, now int64, header func(event uint16) schema.Header) {
	if c == nil {
		return
	}
	c.late = false
	for i := range c.seen {
		cpu, s := i/len(c.slots), &c.slots[i%len(c.slots)]
		n := atomic.LoadUint64((*uint64)(unsafe.Pointer(&c.mem[8*i])))
		if n == c.seen[i] {
			continue
		}
		row := schema.Counted{Header: header(s.event.ID), Window: now - c.at, Count: int64(n - c.seen[i]), Total: int64(n), Symbol: s.symbol}
		row.CPU = uint16(cpu)
		var err error
		if c.rec, err = binary.Append(c.rec[:0], binary.LittleEndian, row); err != nil {
			continue // a fixed-size struct always encodes
		}
		if !p.add(s.event.ID, cpu, c.rec) {
			c.late = true
			return
		}
		atomic.AddInt64(a.made.at(s.event.ID, cpu), 1)
		a.calls[s.event.ID].Add(row.Count)
		c.seen[i] = n
	}
	c.at = now
}

// owes reports whether the next pile has to take rows first: on a host that is busier than the recorder, the
// rings fill every pile to the brim.
func (c *counting) owes() bool { return c != nil && c.late }
