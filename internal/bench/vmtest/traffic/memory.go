package traffic

import (
	"errors"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// udpMemory is the limit of all UDP sockets of the machine together, in pages.
const udpMemory = "/proc/sys/net/ipv4/udp_mem"

// What fills a socket before the limit falls: kernels count memory on each CPU by the
// megabyte, and this is more than two CPUs keep to themselves.
const (
	fillSize  = 60_001
	fillCount = 47
)

// memory makes UDP run into its limit: a socket is filled, the limit is set below that,
// and what comes then is refused. The limit is the machine's, so that has to be the run's own.
func (w *worker) memory() {
	if !w.machine {
		return
	}
	w.in(B)
	s := w.open("full", B, unix.AF_INET, unix.SOCK_DGRAM)
	at := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), portMemory)
	s.bind(at)
	s.setInt(unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20)
	s.names()
	c := w.open("client", B, unix.AF_INET, unix.SOCK_DGRAM)
	c.setInt(unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, 1<<20)
	for range fillCount {
		c.sendTo(at, fillSize)
	}
	before := w.setting(udpMemory, "0 0 0")
	for range w.want["overmemory"] {
		c.sendTo(at, fillSize)
	}
	s.Drops = w.drops(s, w.want["overmemory"])
	w.setting(udpMemory, before)
	for range fillCount {
		s.expectDatagram("recvfrom", fillSize, fillSize)
	}
	c.close()
	s.close()
}

// drops waits until the kernel has counted that many packets dropped for a socket.
func (w *worker) drops(s *socket, atLeast int) (n int) {
	w.until("packets to be dropped", func() (done bool) {
		var err error
		if n, err = socketDrops(s.fd); err != nil {
			w.fail("asking socket %d for its drops: %w", s.Index, err)
		}
		return n >= atLeast
	})
	return n
}

// setting changes a setting of the machine and gives the old one. Other threads stay in the
// machine's own network namespace, where such settings are.
func (w *worker) setting(path, value string) string {
	var old []byte
	done := make(chan error)
	go func() {
		var err error
		old, err = os.ReadFile(path)
		done <- errors.Join(err, os.WriteFile(path, []byte(value), 0))
	}()
	if err := <-done; err != nil {
		w.fail("changing %s: %w", path, err)
	}
	return string(old)
}
