package record

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	poolBytes  = 30 << 20
	chunkBytes = 64 << 10 // room that an event gets at a time
)

// pool is the memory of all piles, which the collector need not know of. It is the kernel's until it
// is used, and what was given back last is used first, so that a quiet host touches little of it.
type pool struct {
	mu   sync.Mutex
	room []byte
	cut  int // of room, so far
	free [][]byte
	idle int       // of free, from its beginning: not used since then
	gone int       // of these, the kernel's again
	then time.Time // of the last trim
}

// get returns room for more records, nil where there is none.
func (p *pool) get() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		chunk := p.free[n-1]
		p.free = p.free[:n-1]
		p.idle, p.gone = min(p.idle, n-1), min(p.gone, n-1)
		return chunk
	}
	if p.room == nil {
		var err error
		if p.room, err = unix.Mmap(-1, 0, poolBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS); err != nil {
			return nil
		}
	}
	if p.cut == len(p.room) {
		return nil
	}
	from := p.cut
	p.cut += chunkBytes
	return p.room[from:from:p.cut]
}

// put takes chunks back, whatever is in them.
func (p *pool) put(chunks [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range chunks {
		p.free = append(p.free, c[:0])
	}
}

// trimEvery is how long a chunk must not have been used to be given back.
const trimEvery = 10 * time.Second

// trim gives chunks back that a burst took and nobody has used since.
func (p *pool) trim(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.then) < trimEvery {
		return
	}
	for _, c := range p.free[p.gone:max(p.gone, p.idle)] {
		_ = unix.Madvise(c[:chunkBytes], unix.MADV_DONTNEED)
	}
	p.idle, p.gone, p.then = len(p.free), max(p.gone, p.idle), now
}

// release gives the memory back to the kernel.
func (p *pool) release() {
	if p.room != nil {
		_ = unix.Munmap(p.room)
		p.room, p.free, p.cut, p.idle, p.gone = nil, nil, 0, 0, 0
	}
}
