package incidents

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// packet is an IPv4 packet on the wire.
type packet []byte

func (p packet) ok() bool      { return len(p) >= 20 && p[0]>>4 == 4 }
func (p packet) tcp() bool     { return p.ok() && p[9] == unix.IPPROTO_TCP && len(p) >= 40 }
func (p packet) flags() byte   { return p[33] }
func (p packet) dport() int    { return int(binary.BigEndian.Uint16(p[22:])) }
func (p packet) payload() int  { return len(p) - 20 - int(p[32]>>4)*4 }
func (p packet) syn() bool     { return p.tcp() && p.flags()&2 != 0 }
func (p packet) data() bool    { return p.tcp() && p.payload() > 0 }
func (p packet) ackno() uint32 { return binary.BigEndian.Uint32(p[28:]) }

// fate is what the wire does with a packet.
type fate struct {
	drop bool
	late time.Duration // overtaken by packets behind it
}

// path is how a wire treats packets; out are those of the recorded host.
type path struct {
	delay time.Duration // one way, in order
	treat func(w *wire, p packet, out bool) fate
}

// wire joins two hosts.
type wire struct {
	path path
	ends [2]*os.File // of here, of there
	mu   sync.Mutex
	seed uint32
	seen [2]int // packets of each direction
}

// tun makes a TUN device in the namespace of the calling thread.
func tun(name string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/net/tun: %w", err)
	}
	req, err := unix.NewIfreq(name)
	if err != nil {
		return nil, err
	}
	req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("make TUN device: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// chance is true once in a while, the same for every run.
func (w *wire) chance(percent uint32) bool {
	w.seed = w.seed*1664525 + 1013904223
	return w.seed>>8%100 < percent
}

// run carries packets of one direction until its end is closed.
func (w *wire) run(out bool) {
	from, to := w.ends[0], w.ends[1]
	if !out {
		from, to = to, from
	}
	queue := make(chan due, 1<<14)
	go deliver(queue, to)
	defer close(queue)
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		p := append(packet(nil), buf[:n]...)
		if f := w.fate(p, out); f.late > 0 {
			time.AfterFunc(f.late, func() { _, _ = to.Write(p) })
		} else if !f.drop {
			queue <- due{time.Now().Add(w.path.delay), p}
		}
	}
}

func (w *wire) fate(p packet, out bool) fate {
	if !p.ok() || w.path.treat == nil {
		return fate{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[0]++; !out {
		w.seen[0]--
		w.seen[1]++
	}
	return w.path.treat(w, p, out)
}

// due is a packet and when it arrives.
type due struct {
	at time.Time
	p  packet
}

func deliver(queue <-chan due, to *os.File) {
	for d := range queue {
		if wait := time.Until(d.at); wait > 0 {
			time.Sleep(wait)
		}
		_, _ = to.Write(d.p)
	}
}

// forge makes a TCP segment without payload, and sends it to this host.
func (w *wire) forge(src, dst [4]byte, sport, dport int, seq, ack uint32, flags byte) {
	p := make(packet, 40)
	p[0], p[8], p[9] = 0x45, 64, unix.IPPROTO_TCP
	binary.BigEndian.PutUint16(p[2:], 40)
	copy(p[12:], src[:])
	copy(p[16:], dst[:])
	binary.BigEndian.PutUint16(p[10:], sum(p[:20], 0))
	binary.BigEndian.PutUint16(p[20:], uint16(sport))
	binary.BigEndian.PutUint16(p[22:], uint16(dport))
	binary.BigEndian.PutUint32(p[24:], seq)
	binary.BigEndian.PutUint32(p[28:], ack)
	p[32], p[33], p[34] = 5<<4, flags, 0xff
	binary.BigEndian.PutUint16(p[36:], sum(append(append([]byte{}, p[12:20]...), p[20:]...), unix.IPPROTO_TCP+20))
	_, _ = w.ends[0].Write(p)
}

// sum is the checksum of the Internet.
func sum(b []byte, more uint32) uint16 {
	for i := 0; i+1 < len(b); i += 2 {
		more += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for more>>16 != 0 {
		more = more&0xffff + more>>16
	}
	return ^uint16(more)
}
