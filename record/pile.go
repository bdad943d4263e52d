package record

import (
	"encoding/binary"
	"fmt"
	"time"
	"unsafe"

	"netrec/record/encode"
	"netrec/schema"
)

// Bounds of the memory between rings and file. Four piles exist: one is filled,
// two wait, one is being encoded and gives its memory back as it goes. They share a pool.
const (
	pileBytes     = 10 << 20
	handOverBytes = pileBytes / 4 * 3
	piles         = 4
	hotRows       = 1000 // an event with so many rows in a commit gets a row group of its own
)

// pile is the rows of one commit to be, raw as the rings delivered them.
type pile struct {
	data  [][]byte   // the recorder's own rows, by event id
	kept  [][][]byte // those of the rings, by event id; whole records in each part
	times [][]uint64 // of the records in kept, taken while they are at hand
	from  *pool      // of which the parts are
	used  int        // bytes of parts
	rows  tally
	bytes int
	n     int64
	due   time.Time // when its commit was
	hurry bool      // to be encoded quickly rather than shortly
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

func newPile(cpus int, from *pool) *pile {
	return &pile{data: make([][]byte, schema.MaxID), kept: make([][][]byte, schema.MaxID), times: make([][]uint64, schema.MaxID), from: from, rows: newTally(cpus)}
}

func (p *pile) reset() {
	for i := range p.data {
		p.data[i] = p.data[i][:0]
		p.forget(uint16(i))
	}
	p.used = 0
	clear(p.rows.n)
	p.bytes, p.n, p.due, p.hurry, p.then = 0, 0, time.Time{}, false, nil
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

// cut returns room for more records, nil where there is none.
func (p *pile) cut() []byte {
	if p.used == pileBytes {
		return nil
	}
	part := p.from.get()
	if part != nil {
		p.used += chunkBytes
	}
	return part
}

// forget gives the records of an event back, once they are in a row group.
func (p *pile) forget(event uint16) {
	if len(p.kept[event]) > 0 {
		p.from.put(p.kept[event])
		p.kept[event], p.times[event] = p.kept[event][:0], p.times[event][:0]
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
