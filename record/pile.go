package record

import (
	"encoding/binary"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"netrec/record/encode"
	"netrec/schema"
)

// Bounds of the memory between rings and file. Three piles exist: one is filled,
// one waits, one is being encoded.
const (
	pileBytes     = 10 << 20
	handOverBytes = pileBytes / 4 * 3
	chunkBytes    = 64 << 10 // room that an event gets at a time
	piles         = 3
	hotRows       = 1000 // an event with so many rows in a commit gets a row group of its own
)

// pile is the rows of one commit to be, raw as the rings delivered them.
type pile struct {
	data  [][]byte   // the recorder's own rows, by event id
	kept  [][][]byte // those of the rings, by event id; whole records in each part
	times [][]uint64 // of the records in kept, taken while they are at hand
	room  []byte     // what parts are cut from, outside the heap
	used  int        // of room
	rows  tally
	bytes int
	n     int64
	due   time.Time // when its commit was
	lent  []uint32  // strings that its rows refer to and nothing else does
	then  *turn     // to the next file, once it is written
}

// tally counts by event and CPU.
type tally struct {
	n    []int64
	cpus int
}

func newTally(cpus int) tally { return tally{make([]int64, schema.MaxID*cpus), cpus} }

func (t tally) at(event uint16, cpu int) *int64 { return &t.n[int(event)*t.cpus+cpu] }

func newPile(cpus int) *pile {
	return &pile{data: make([][]byte, schema.MaxID), kept: make([][][]byte, schema.MaxID), times: make([][]uint64, schema.MaxID), rows: newTally(cpus)}
}

func (p *pile) reset() {
	for i := range p.data {
		p.data[i], p.kept[i], p.times[i] = p.data[i][:0], p.kept[i][:0], p.times[i][:0]
	}
	p.used = 0
	clear(p.rows.n)
	p.bytes, p.n, p.due, p.then = 0, 0, time.Time{}, nil
	p.lent = p.lent[:0]
}

// Offsets in a record's header that the drain loop looks at.
const (
	timeOffset  = int(unsafe.Offsetof(schema.Header{}.TS))
	eventOffset = int(unsafe.Offsetof(schema.Header{}.Event))
	cpuOffset   = int(unsafe.Offsetof(schema.Header{}.CPU))
)

func recordTime(rec []byte) uint64  { return binary.LittleEndian.Uint64(rec[timeOffset:]) }
func recordEvent(rec []byte) uint16 { return binary.LittleEndian.Uint16(rec[eventOffset:]) }
func recordCPU(rec []byte) int      { return int(binary.LittleEndian.Uint16(rec[cpuOffset:])) }

// add copies a record of a known event. It reports false where the pile is full.
func (p *pile) add(event uint16, cpu int, rec []byte) bool {
	parts := p.kept[event]
	last := len(parts) - 1
	if last < 0 || cap(parts[last])-len(parts[last]) < len(rec) {
		part := p.cut()
		if part == nil {
			return false
		}
		parts, last = append(parts, part), last+1
		p.kept[event] = parts
	}
	parts[last] = append(parts[last], rec...)
	p.times[event] = append(p.times[event], recordTime(rec))
	p.bytes += len(rec)
	p.n++
	*p.rows.at(event, cpu)++
	return true
}

// newest is when the newest record was made, which needs not be the last: CPUs have rings of their own.
func (p *pile) newest() (at uint64) {
	for _, times := range p.times {
		for _, t := range times {
			at = max(at, t)
		}
	}
	return at
}

// cut returns room for more records, nil where there is none. The memory is the kernel's
// until it is used, and the collector need not know of it.
func (p *pile) cut() []byte {
	if p.room == nil {
		var err error
		if p.room, err = unix.Mmap(-1, 0, pileBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS); err != nil {
			return nil
		}
	}
	if p.used+chunkBytes > len(p.room) {
		return nil
	}
	from := p.used
	p.used += chunkBytes
	return p.room[from:from:p.used]
}

// release gives the memory back.
func (p *pile) release() {
	if p.room != nil {
		_ = unix.Munmap(p.room)
		p.room = nil
	}
}

// idle reports that nothing happened: there is at most what the recorder used itself.
func (p *pile) idle() bool { return p.bytes == len(p.data[costEvent.ID]) && p.then == nil }

// own adds a row that the recorder itself writes, a struct of package schema.
func (p *pile) own(event uint16, row any) error {
	b, err := binary.Append(p.data[event], binary.LittleEndian, row)
	if err != nil {
		return fmt.Errorf("row of event %d: %w", event, err)
	}
	p.bytes += len(b) - len(p.data[event])
	p.data[event] = b
	return nil
}

// batches splits a pile into events with row groups of their own and the rest.
func (p *pile) batches() (hot [][]encode.Batch, mixed []encode.Batch) {
	for id := range p.data {
		e, bytes := schema.ByID(uint16(id)), len(p.data[id])
		var parts []encode.Batch
		if bytes > 0 {
			parts = append(parts, encode.Batch{Event: e, Data: p.data[id]})
		}
		times := p.times[id]
		for _, data := range p.kept[id] {
			n := len(data) / e.Size()
			parts = append(parts, encode.Batch{Event: e, Data: data, Times: times[:n]})
			times = times[n:]
			bytes += len(data)
		}
		switch {
		case bytes == 0:
		case bytes >= hotRows*e.Size():
			hot = append(hot, parts)
		default:
			mixed = append(mixed, parts...)
		}
	}
	return hot, mixed
}
