package perfring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ring is one CPU's messages.
type Ring struct {
	fd  int
	mem []byte
	msg []byte // of a message that goes around the end
}

// Open opens the ring of a CPU for all processes, of some pages, which must be a power of two.
// What it needs of privileges it needs now, and never again.
func Open(cpu int, attr unix.PerfEventAttr, pages int) (*Ring, error) {
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	mem, err := unix.Mmap(fd, 0, (1+pages)*unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("map a ring of perf: %w", err)
	}
	return &Ring{fd: fd, mem: mem}, nil
}

// FD is what can be polled for messages.
func (r *Ring) FD() int { return r.fd }

// Close ends the messages.
func (r *Ring) Close() error {
	return errors.Join(unix.Munmap(r.mem), unix.Close(r.fd))
}

// Each gives the kind, flags and body of every message; the body is valid during the call.
func (r *Ring) Each(f func(kind uint32, misc uint16, body []byte)) {
	const header = 8 // type, misc, size
	page := (*unix.PerfEventMmapPage)(unsafe.Pointer(&r.mem[0]))
	data := r.mem[unix.Getpagesize():]
	tail, head := page.Data_tail, atomic.LoadUint64(&page.Data_head)
	for tail < head {
		at := tail % uint64(len(data))
		size := uint64(binary.NativeEndian.Uint16(data[at+6:])) // headers do not go around the end
		if size < header {
			tail = head // cannot be
			break
		}
		msg := data[at:min(at+size, uint64(len(data)))]
		if n := uint64(len(msg)); n < size {
			r.msg = append(append(r.msg[:0], msg...), data[:size-n]...)
			msg = r.msg
		}
		f(binary.NativeEndian.Uint32(msg), binary.NativeEndian.Uint16(msg[4:]), msg[header:])
		tail += size
	}
	atomic.StoreUint64(&page.Data_tail, tail)
}
