package record

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Layout of a BPF ring buffer in memory: a page that the reader writes, a page that the kernel
// writes, the records. Each record has a header of eight bytes, of which the first four are
// its length and two flags.
const (
	ringHeader  = 8
	recordBusy  = 1 << 31
	recordGone  = 1 << 30
	recordAlign = 8
)

// stretch is how much is read before the probes get the room back.
const stretch = 64 << 10

// ring is the reader's end of one ring. The library's reader takes a lock, looks at a clock
// and copies for every record; here records are handed out where they lie. The records are
// mapped once, not twice as usual, so that they count once as resident memory: one that
// goes round the end is put together in spare.
type ring struct {
	head, body []byte // mappings
	consumer   *uint64
	producer   *uint64
	data       []byte
	spare      []byte
}

func mapRing(m *ebpf.Map) (*ring, error) {
	page, size := os.Getpagesize(), int(m.MaxEntries())
	head, err := unix.Mmap(m.FD(), 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the reader's page: %w", err)
	}
	body, err := unix.Mmap(m.FD(), int64(page), page+size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Munmap(head)
		return nil, fmt.Errorf("map %d bytes of records: %w", size, err)
	}
	return newRing(head, body, page), nil
}

// newRing takes the memory of a ring apart.
func newRing(head, body []byte, page int) *ring {
	return &ring{head: head, body: body, consumer: (*uint64)(unsafe.Pointer(&head[0])), producer: (*uint64)(unsafe.Pointer(&body[0])), data: body[page:]}
}

// each hands the records that are in the ring now to f, whose argument is valid during the call
// only. It ends at a record that is still being written, and where f has no more room.
func (r *ring) each(f func(rec []byte) bool) {
	at, end := atomic.LoadUint64(r.consumer), atomic.LoadUint64(r.producer)
	given, mask := at, uint64(len(r.data)-1)
	for at < end {
		head := atomic.LoadUint32((*uint32)(unsafe.Pointer(&r.data[at&mask])))
		if head&recordBusy != 0 {
			break
		}
		n := uint64(head &^ recordGone)
		if head&recordGone == 0 && !f(r.record((at+ringHeader)&mask, n)) {
			break
		}
		at += (ringHeader + n + recordAlign - 1) &^ (recordAlign - 1)
		if at-given >= stretch {
			atomic.StoreUint64(r.consumer, at)
			given = at
		}
	}
	if at != given {
		atomic.StoreUint64(r.consumer, at)
	}
}

// holds is how many bytes wait in the ring.
func (r *ring) holds() int { return int(atomic.LoadUint64(r.producer) - atomic.LoadUint64(r.consumer)) }

func (r *ring) record(from, n uint64) []byte {
	if to := from + n; to <= uint64(len(r.data)) {
		return r.data[from:to:to]
	}
	r.spare = append(r.spare[:0], r.data[from:]...)
	return append(r.spare, r.data[:n-uint64(len(r.spare))]...)
}

func (r *ring) close() {
	_ = unix.Munmap(r.head)
	_ = unix.Munmap(r.body)
}
