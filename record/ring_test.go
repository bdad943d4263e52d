package record

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"netrec/schema"
)

const testPage = 4096

// fakeRing is a ring as the kernel leaves it, with a producer's end.
type fakeRing struct {
	*ring
	size uint64
}

func newFakeRing(size int) *fakeRing {
	// Numbers are read where they lie, so the memory must be aligned as theirs.
	words := make([]uint64, (2*testPage+size)/8)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
	return &fakeRing{newRing(mem[:testPage], mem[testPage:], testPage), uint64(size)}
}

// put writes a record with flags, or reports that there is no room.
func (r *fakeRing) put(rec []byte, flags uint32) bool {
	n := (uint64(len(rec)) + ringHeader + recordAlign - 1) &^ (recordAlign - 1)
	if *r.producer+n-*r.consumer > r.size {
		return false
	}
	at := *r.producer & (r.size - 1)
	binary.LittleEndian.PutUint32(r.data[at:], uint32(len(rec))|flags)
	for i, b := range rec {
		r.data[(at+ringHeader+uint64(i))&(r.size-1)] = b
	}
	*r.producer += n
	return true
}

// Whatever lies in a ring comes out once, in order and whole, also over its end; records
// that were given up do not, and one that is being written holds up those behind it.
func TestRing(t *testing.T) {
	r, rnd := newFakeRing(testPage), rand.New(rand.NewPCG(3, 5))
	var want, got [][]byte
	take := func(rec []byte) bool {
		if rnd.IntN(7) == 0 {
			return false // no room this time: the record stays
		}
		got = append(got, slices.Clone(rec))
		return true
	}
	for i := range 20_011 {
		rec := make([]byte, 1+rnd.IntN(400))
		for j := range rec {
			rec[j] = byte(i + j)
		}
		flags := uint32(0)
		if rnd.IntN(5) == 0 {
			flags = recordGone
		}
		for !r.put(rec, flags) {
			r.each(take)
		}
		if flags == 0 {
			want = append(want, rec)
		}
	}
	for *r.consumer != *r.producer {
		r.each(take)
	}
	if !slices.EqualFunc(want, got, slices.Equal) {
		t.Errorf("%d records put, %d taken, or others", len(want), len(got))
	}
	got = nil
	r.put([]byte("busy"), recordBusy)
	r.put([]byte("behind"), 0)
	r.each(func(rec []byte) bool { got = append(got, rec); return true })
	if len(got) > 0 {
		t.Errorf("took %q, though the first was being written", got)
	}
}

// A full pile leaves records in the ring, and loses none.
func TestDrainStopsWhenFull(t *testing.T) {
	e := schema.ByName("sock_io")
	d, r := &drain{cpus: 1, sizes: recordSizes(), pile: newPile(1)}, newFakeRing(1<<20)
	d.rings = []*ring{r.ring}
	defer d.pile.release()
	rec := make([]byte, e.Size())
	binary.LittleEndian.PutUint16(rec[eventOffset:], e.ID)
	put := int64(0)
	for !d.full {
		for r.put(rec, 0) {
			put++
		}
		d.all()
	}
	if d.pile.n != d.total || d.total == put {
		t.Errorf("%d in the pile, %d counted, %d put", d.pile.n, d.total, put)
	}
	d.pile.reset()
	if d.all(); d.total != put || d.unknown != 0 {
		t.Errorf("%d of %d after the pile was emptied, %d unknown", d.total, put, d.unknown)
	}
}

// BenchmarkDrain is the way from the ring into the pile.
func BenchmarkDrain(b *testing.B) {
	e := schema.ByName("sock_io")
	d, r := &drain{cpus: 1, sizes: recordSizes(), pile: newPile(1)}, newFakeRing(8<<20)
	d.rings = []*ring{r.ring}
	defer d.pile.release()
	rec := make([]byte, e.Size())
	binary.LittleEndian.PutUint16(rec[eventOffset:], e.ID)
	for r.put(rec, 0) {
	}
	n := 0
	used := func() int64 { user, sys := cpuTime(); return user + sys }
	start := used()
	b.ReportAllocs()
	for b.Loop() {
		*r.consumer = 0
		d.pile.reset()
		d.all()
		n += int(d.pile.n)
	}
	b.ReportMetric(float64(used()-start)/float64(n), "ns/record")
}
