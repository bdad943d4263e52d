package record

import (
	"encoding/binary"
	"fmt"
	"time"
	"unsafe"

	"netrec/record/encode"
	"netrec/schema"
)

// Bounds of the memory between rings and file. Three piles exist: one is filled,
// one waits, one is being encoded.
const (
	pileBytes = 32 << 20
	piles     = 3
	hotRows   = 1000 // an event with so many rows in a commit gets a row group of its own
)

// pile is the rows of one commit to be, raw as the rings delivered them.
type pile struct {
	data  [][]byte // by event id
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
	return &pile{data: make([][]byte, schema.MaxID), rows: newTally(cpus)}
}

func (p *pile) reset() {
	for i := range p.data {
		p.data[i] = p.data[i][:0]
	}
	clear(p.rows.n)
	p.bytes, p.n, p.due, p.then = 0, 0, time.Time{}, nil
	p.lent = p.lent[:0]
}

// Offsets in a record's header that the drain loop looks at.
const (
	eventOffset = int(unsafe.Offsetof(schema.Header{}.Event))
	cpuOffset   = int(unsafe.Offsetof(schema.Header{}.CPU))
)

func recordEvent(rec []byte) uint16 { return binary.LittleEndian.Uint16(rec[eventOffset:]) }
func recordCPU(rec []byte) int      { return int(binary.LittleEndian.Uint16(rec[cpuOffset:])) }

// add copies a record of a known event. It reports false where the pile is full.
func (p *pile) add(event uint16, cpu int, rec []byte) bool {
	if p.bytes+len(rec) > pileBytes {
		return false
	}
	p.data[event] = append(p.data[event], rec...)
	p.bytes += len(rec)
	p.n++
	*p.rows.at(event, cpu)++
	return true
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

// batches splits a pile into events with a row group of their own and the rest.
func (p *pile) batches() (hot, mixed []encode.Batch) {
	for id, data := range p.data {
		if len(data) == 0 {
			continue
		}
		b := encode.Batch{Event: schema.ByID(uint16(id)), Data: data}
		if len(data) >= hotRows*b.Event.Size() {
			hot = append(hot, b)
		} else {
			mixed = append(mixed, b)
		}
	}
	return hot, mixed
}
