package traffic

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// echoID is the identifier of all echo requests made here.
const echoID = 0x7a11

// echoes sends echo requests of both families and waits until all are answered. The
// kernel of side B answers; the replies stay unread.
func (w *worker) echoes() {
	for _, f := range []struct {
		form            string
		protocol        int
		request         byte
		answered, count string
	}{
		{"4", unix.IPPROTO_ICMP, 8, "Icmp.InEchoReps", "echo4"},
		{"6", unix.IPPROTO_ICMPV6, 128, "Icmp6InEchoReplies", "echo6"},
	} {
		s := w.raw("pinger", familyOf(f.form), f.protocol)
		before, n := w.counter(A, f.answered), w.want[f.count]
		to := netip.AddrPortFrom(w.addr(B, f.form, 0).Addr(), 0)
		for i := range n {
			s.sendPacket(to, echoRequest(f.request, i+1, w.size(99)))
		}
		w.until("echo replies", func() bool { return w.counter(A, f.answered) >= before+n })
		s.close()
	}
}

// raw makes a socket for packets of an IP protocol on side A.
func (w *worker) raw(role string, family, protocol int) *socket {
	w.in(A)
	enter := now()
	fd, errno := sys3(unix.SYS_SOCKET, uintptr(family), uintptr(unix.SOCK_RAW|unix.SOCK_CLOEXEC), uintptr(protocol))
	exit := now()
	if errno != 0 {
		w.fail("making a raw socket of family %d: %w", family, errno)
	}
	return w.adopt(&Socket{
		Role: role, Side: A, FD: fd, From: -1, Family: familyName(family), Type: typeName(unix.SOCK_RAW),
		Calls: []Call{{Name: "socket", FD: fd, Return: fd, Enter: enter, Exit: exit}},
	})
}

func (s *socket) sendPacket(to netip.AddrPort, b []byte) {
	c := Call{Name: "sendto", Asked: len(b), Peer: to.String()}
	s.must(c, func() (int, unix.Errno) { return sysSendto(s.fd, b, 0, rawAddr(to, s.Family)) })
	s.Sent += len(b)
}

// echoRequest is a request with an odd payload of zeros. The checksum is IPv4's; that of
// IPv6 covers addresses too and is left to the kernel.
func echoRequest(typ byte, number, payload int) []byte {
	b := make([]byte, 8+payload)
	b[0] = typ
	binary.BigEndian.PutUint16(b[4:], echoID)
	binary.BigEndian.PutUint16(b[6:], uint16(number))
	sum := uint32(typ)<<8 + echoID + uint32(number)
	sum = sum&0xffff + sum>>16
	binary.BigEndian.PutUint16(b[2:], ^uint16(sum))
	return b
}
