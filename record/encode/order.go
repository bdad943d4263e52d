package encode

import (
	"encoding/binary"
	"slices"
	"sort"
	"unsafe"

	"netrec/schema"
)

// Places of the header's fields in every record.
const (
	offTS  = int(unsafe.Offsetof(schema.Header{}.TS))
	offSeq = int(unsafe.Offsetof(schema.Header{}.Seq))
	offPid = int(unsafe.Offsetof(schema.Header{}.Pid))
	offCPU = int(unsafe.Offsetof(schema.Header{}.CPU))
)

// ref is one record on its way into the order of time.
type ref struct {
	ts    uint64
	off   uint32 // of the record in the data of its batch
	batch uint32
}

// before orders records by time, then CPU, then the CPU's counter.
func before(a, b []byte) bool {
	le := binary.LittleEndian
	if x, y := le.Uint64(a[offTS:]), le.Uint64(b[offTS:]); x != y {
		return x < y
	}
	if x, y := le.Uint16(a[offCPU:]), le.Uint16(b[offCPU:]); x != y {
		return x < y
	}
	return le.Uint64(a[offSeq:]) < le.Uint64(b[offSeq:])
}

// time is that of a record, of which the offset and the number are known.
func (b *Batch) time(off, row int) uint64 {
	if b.Times != nil {
		return b.Times[row]
	}
	return binary.LittleEndian.Uint64(b.Data[off+offTS:])
}

// sorted reports whether the records lie in the order of time.
func (b *Batch) sorted() bool {
	size := b.Event.Size()
	for off, row := size, 1; off < len(b.Data); off, row = off+size, row+1 {
		if last, now := b.time(off-size, row-1), b.time(off, row); now < last || now == last && before(b.Data[off:], b.Data[off-size:]) {
			return false
		}
	}
	return true
}

func oneEvent(batches []Batch) bool {
	return !slices.ContainsFunc(batches, func(b Batch) bool { return b.Event != batches[0].Event })
}

// oneRun reports whether batches of one event follow each other in time.
func oneRun(batches []Batch) bool {
	var last []byte
	for i := range batches {
		data, size := batches[i].Data, batches[0].Event.Size()
		if len(data) == 0 {
			continue
		}
		if last != nil && before(data, last) || !batches[i].sorted() {
			return false
		}
		last = data[len(data)-size:]
	}
	return true
}

// sorter merges records by time. Rings are drained in order, so a batch is a few
// ascending runs and merging them beats sorting.
type sorter struct {
	refs, spare []ref
	runs        []int // starts of ascending runs, then the end
	batches     []Batch
}

func (s *sorter) before(a, b *ref) bool {
	if a.ts != b.ts {
		return a.ts < b.ts
	}
	return before(s.batches[a.batch].Data[a.off:], s.batches[b.batch].Data[b.off:])
}

// order lists the records of all batches in the order of time.
func (s *sorter) order(batches []Batch) []ref {
	s.batches = batches
	s.refs, s.runs = s.refs[:0], s.runs[:0]
	for i := range batches {
		b := &batches[i]
		for p, row := 0, 0; p < len(b.Data); p, row = p+b.Event.Size(), row+1 {
			r := ref{ts: b.time(p, row), off: uint32(p), batch: uint32(i)}
			if n := len(s.refs); n == 0 || s.before(&r, &s.refs[n-1]) {
				s.runs = append(s.runs, n)
			}
			s.refs = append(s.refs, r)
		}
	}
	s.runs = append(s.runs, len(s.refs))
	if cap(s.spare) < len(s.refs) {
		s.spare = make([]ref, cap(s.refs))
	}
	for len(s.runs) > 2 {
		s.mergePairs()
	}
	s.batches = nil
	return s.refs
}

// mergePairs merges each run with its neighbour.
func (s *sorter) mergePairs() {
	out, kept := s.spare[:0], 0
	for i := 0; i+1 < len(s.runs); i += 2 {
		a := s.refs[s.runs[i]:s.runs[i+1]]
		var b []ref
		if i+2 < len(s.runs) {
			b = s.refs[s.runs[i+1]:s.runs[i+2]]
		}
		s.runs[kept] = len(out)
		kept++
		if len(b) > 0 { // rings are drained one after the other, so runs overlap at their ends only
			i := sort.Search(len(a), func(i int) bool { return s.before(&b[0], &a[i]) })
			out, a = append(out, a[:i]...), a[i:]
		}
		for len(a) > 0 && len(b) > 0 {
			if s.before(&b[0], &a[0]) {
				out, b = append(out, b[0]), b[1:]
			} else {
				out, a = append(out, a[0]), a[1:]
			}
		}
		out = append(append(out, a...), b...)
	}
	s.runs = append(s.runs[:kept], len(out))
	s.refs, s.spare = out, s.refs
}
