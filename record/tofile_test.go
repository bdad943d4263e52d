package record

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"netrec/record/capture"
	"netrec/schema"
)

// toFile is the whole way of an event in the recorder, from rings that are full to a commit in the file.
type toFile struct {
	*drain
	w *writer
}

// newToFile fills n rings with together as many sends and receives of some sockets as there are rows.
func newToFile(t testing.TB, n, rows int) *toFile {
	t.Helper()
	e := schema.ByName("sock_io")
	d := &drain{cpus: n, sizes: recordSizes(), pile: newPile(n, &pool{})}
	t.Cleanup(d.pile.from.release)
	for cpu := range n {
		r := newFakeRing(drainBytes / n)
		d.rings = append(d.rings, r.ring)
		for i := range rows / n {
			row := someIO(e, cpu, cpu+i*n)
			if !r.put(unsafe.Slice((*byte)(unsafe.Pointer(&row)), e.Size()), 0) {
				t.Fatalf("%d rows do not fit into %d rings", rows, n)
			}
		}
	}
	file, err := capture.Create(filepath.Join(t.TempDir(), "cap.parquet"), false, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return &toFile{d, &writer{file: file, enc: newEncoder(newResolver(nil), 0)}}
}

// someIO is the i-th row of a host on which a few threads serve some dozen connections.
func someIO(e *schema.Event, cpu, i int) schema.SockIO {
	s := i * 7 % 61
	row := schema.SockIO{Header: schema.Header{TS: uint64(1e12 + i*1700 + s), Seq: uint64(i), Event: e.ID, CPU: uint16(cpu), Sock: 0xffff888100000000 + uint64(s)*2368,
		Pid: 4711, Tid: int32(4711 + s%5), Netns: 4026531840}, Cookie: int64(s + 1), Socket: 0xffff888300000000 + uint64(s)*832, Ret: int64(100 + i*31%977), Asked: 16384,
		Rmem: -1, RmemIn: -1, Rcvbuf: 131072, Type: 1, Protocol: 6, Dir: uint8(i & 1)}
	row.Laddr, row.Raddr = [16]byte{10, 0, 0, 1}, [16]byte{10, 0, 1, byte(s)}
	row.Lport, row.Rport, row.Family = 443, uint16(30000+s), 2
	copy(row.Comm[:], "nginx")
	copy(row.Prot[:], "TCP")
	return row
}

// commit takes all rows from the rings to the file, once more each time.
func (f *toFile) commit(t testing.TB) {
	for _, r := range f.rings {
		*r.consumer = 0
	}
	f.all()
	if f.full || f.unknown > 0 {
		t.Fatalf("full: %v, %d unknown records", f.full, f.unknown)
	}
	if err := f.w.add(f.pile); err != nil {
		t.Fatal(err)
	}
	if err := f.w.file.Commit(); err != nil {
		t.Fatal(err)
	}
	f.pile.reset()
}

// What a commit allocates does not depend on the number of its events.
func TestEventsAllocateNothing(t *testing.T) {
	const few, many = 2_003, 30_011
	allocations := func(rows int) float64 {
		f := newToFile(t, 2, rows)
		for range 3 {
			f.commit(t)
		}
		return testing.AllocsPerRun(10, func() { f.commit(t) })
	}
	least, most := allocations(few), allocations(many)
	if perEvent := (most - least) / (many - few); perEvent > 0.002 {
		t.Errorf("%.0f allocations in a commit of %d events, %.0f in one of %d: %.3f for an event", least, few, most, many, perEvent)
	}
}

// BenchmarkToFile is what an event costs the recorder, from ring to file, and how that scales with the
// number of rings. Rows of one event are as cheap as they get: real traffic has smaller row groups.
func BenchmarkToFile(b *testing.B) {
	const rows = 32_768
	used := func() int64 { user, sys := cpuTime(); return user + sys }
	for n := 1; n <= maxRings; n *= 2 {
		b.Run(fmt.Sprintf("rings=%d", n), func(b *testing.B) {
			f := newToFile(b, n, rows)
			f.commit(b)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := used()
			b.ReportAllocs()
			for b.Loop() {
				f.commit(b)
			}
			events := float64(b.N * rows)
			b.ReportMetric(float64(used()-start)/events, "ns/event")
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/events, "allocs/event")
		})
	}
}
