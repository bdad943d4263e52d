package traffic

import (
	"golang.org/x/sys/unix"
)

// Values of the ECN field.
const (
	ecnCapable   = 2
	ecnCongested = 3
)

// marks sends datagrams with the ECN field set: some that the sender already marked
// for congestion, some that are only capable of it, and, where the link can, some of
// those that its queue marks on the way.
func (w *worker) marks() {
	defer w.reshape("delay", delayA)
	for _, form := range []string{"4", "6"} {
		s, c := w.bound(form, portECN), w.connected(form, portECN)
		w.marked(c, s, form, ecnCapable, w.want["capable"])
		w.marked(c, s, form, ecnCongested, w.want["ce"+form])
		if w.link.netem && form == "4" {
			w.reshape("delay", delayA, "loss", "100%", "ecn")
			w.marked(c, s, form, ecnCapable, w.want["marked"])
			w.reshape("delay", delayA)
		}
		c.close()
		s.close()
	}
}

// marked sends n datagrams with a value of the ECN field and receives them.
func (w *worker) marked(c, s *socket, form string, ecn, n int) {
	level, option := unix.IPPROTO_IP, unix.IP_TOS
	if form == "6" {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_TCLASS
	}
	c.setInt(level, option, ecn)
	for range n {
		size := w.size(600)
		c.send("sendto", make([]byte, size))
		s.expectDatagram("recvfrom", 2048, size)
	}
}
