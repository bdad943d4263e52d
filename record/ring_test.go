package record

import (
	"encoding/binary"
	"fmt"
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
	d, r := &drain{cpus: 1, sizes: recordSizes(), pile: newPile(1, &pool{})}, newFakeRing(1<<20)
	d.rings = []*ring{r.ring}
	defer d.pile.from.release()
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

// A row of one CPU that is made while the rings are read is not taken without the rare row that
// another CPU made before it.
func TestDrainEndsAtOneMoment(t *testing.T) {
	d, first, second := &drain{cpus: 2, sizes: recordSizes(), pile: newPile(2, &pool{}), fixed: make([]bool, schema.MaxID)}, newFakeRing(testPage), newFakeRing(testPage)
	d.rings = []*ring{first.ring, second.ring}
	defer d.pile.from.release()
	made := func(event string, cpu uint16) []byte {
		e := schema.ByName(event)
		rec := make([]byte, e.Size())
		binary.LittleEndian.PutUint64(rec[timeOffset:], uint64(mono()))
		binary.LittleEndian.PutUint16(rec[eventOffset:], e.ID)
		binary.LittleEndian.PutUint16(rec[cpuOffset:], cpu)
		return rec
	}
	connect := schema.ByName("sys_connect").ID
	d.fixed[connect] = true
	d.fix = func([]byte) {
		d.fixed[connect] = false
		first.put(made("tcp_state", 0), 0)
		second.put(made("sock_io", 1), 0)
	}
	first.put(made("sys_connect", 0), 0)
	for i, want := range []int64{1, 3} {
		if d.all(); d.total != want || d.full {
			t.Errorf("look %d: %d rows, full: %v; want %d", i+1, d.total, d.full, want)
		}
	}
}

// A ring that fills up while it is read gives no further wake-up: the recorder must look again at once, and must not
// where a record that is being written holds up the rest.
func TestDrainDoesNotSleepBesideAFullRing(t *testing.T) {
	e := schema.ByName("sys_connect")
	d, r := &drain{cpus: 1, sizes: recordSizes(), pile: newPile(1, &pool{}), fixed: make([]bool, schema.MaxID), wakeAt: 2 * e.Size()}, newFakeRing(1<<20)
	d.rings = []*ring{r.ring}
	defer d.pile.from.release()
	rec := make([]byte, e.Size())
	binary.LittleEndian.PutUint16(rec[eventOffset:], e.ID)
	d.fixed[e.ID] = true
	var meanwhile func()
	d.fix = func([]byte) { meanwhile(); meanwhile = func() {} }
	for _, look := range []struct {
		made  int
		flags uint32
		more  bool
	}{{0, 0, false}, {1, 0, false}, {3, 0, true}, {3, recordBusy, true}} {
		meanwhile = func() {
			for range look.made {
				r.put(rec, look.flags)
			}
		}
		r.put(rec, 0)
		if d.all(); d.more != look.more {
			t.Errorf("%d came while one was read, flags %#x: looks again: %t, want %t", look.made, look.flags, d.more, look.more)
		}
	}
	if d.all(); d.more {
		t.Error("looks again and again for a record that is being written")
	}
}

// drainBytes is what the rings of a benchmark hold together: no more than a pile takes.
const drainBytes = 8 << 20

// fakeDrain is a drain of n full rings, one for each CPU.
func fakeDrain(n int, e *schema.Event) (*drain, []*fakeRing) {
	d := &drain{cpus: n, sizes: recordSizes(), pile: newPile(n, &pool{})}
	rings := make([]*fakeRing, n)
	for cpu := range rings {
		rec := make([]byte, e.Size())
		binary.LittleEndian.PutUint16(rec[eventOffset:], e.ID)
		binary.LittleEndian.PutUint16(rec[cpuOffset:], uint16(cpu))
		rings[cpu] = newFakeRing(drainBytes / n)
		d.rings = append(d.rings, rings[cpu].ring)
		for rings[cpu].put(rec, 0) {
		}
	}
	return d, rings
}

// BenchmarkDrain is the way from the rings into the pile: how it scales with their number, as hosts
// with many CPUs have them. Full rings are a host that is busy on every CPU; a record each is what
// the walk over rings with next to nothing in them costs.
func BenchmarkDrain(b *testing.B) {
	e := schema.ByName("sock_io")
	for n := 1; n <= maxRings; n *= 2 {
		d, rings := fakeDrain(n, e)
		end := *rings[0].producer
		for _, fill := range []struct {
			name string
			end  uint64
		}{{"full", end}, {"one", (ringHeader + uint64(e.Size()) + recordAlign - 1) &^ (recordAlign - 1)}} {
			for _, r := range rings {
				*r.producer = fill.end
			}
			b.Run(fmt.Sprintf("rings=%d/%s", n, fill.name), func(b *testing.B) { drainAgain(b, d) })
		}
		d.pile.from.release()
	}
}

// drainAgain drains the same records again and again. The pile is emptied when it is full, as the writer
// would do it.
func drainAgain(b *testing.B, d *drain) {
	round := 0
	for _, r := range d.rings {
		round += int(*r.producer)
	}
	used := func() int64 { user, sys := cpuTime(); return user + sys }
	before, start := d.total, used()
	b.ReportAllocs()
	for b.Loop() {
		if d.pile.bytes+round > drainBytes {
			d.pile.reset()
		}
		for _, r := range d.rings {
			*r.consumer = 0
		}
		if d.all(); d.full || d.unknown > 0 {
			b.Fatalf("full: %v, %d unknown records", d.full, d.unknown)
		}
	}
	b.ReportMetric(float64(used()-start)/float64(d.total-before), "ns/record")
}
