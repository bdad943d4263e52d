package traffic

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// handmade is a tunnel whose headers are the payload of an ordinary socket's datagrams.
type handmade struct {
	kind   string
	port   int
	header []byte
	inner  string
}

// handmadeTunnels need no device, so that there are some on any kernel and over loopback,
// and have what the tunnels made by ip leave out.
var handmadeTunnels = []handmade{
	{"vxlan by hand", 4789, slices.Concat([]byte{8, 0, 0, 0, 0, 0, 7, 0}, frame(unix.ETH_P_IP)), "4"},
	{"geneve with options", 6081, slices.Concat([]byte{3, 0, 0x65, 0x58, 0, 0, 7, 0}, make([]byte, 3*4), frame(unix.ETH_P_IPV6)), "6"},
	{"geneve without frame", 6081, []byte{0, 0, 0x08, 0x00, 0, 0, 7, 0}, "4"},
}

// frame is an Ethernet header.
func frame(ethertype uint16) []byte {
	return binary.BigEndian.AppendUint16(make([]byte, 12), ethertype)
}

// byHand sends datagrams that look like a tunnel's.
func (w *worker) byHand(h handmade) {
	t := Tunnel{Kind: h.kind, Handmade: true, Protocol: "udp", Port: h.port, Begin: now(), From: "lo", To: "lo", Outer: w.ends("4"), Inner: innerEnds(h.inner),
		InnerMarked: w.want["innermarked"], OuterMarked: w.want["outermarked"], BothMarked: w.want["bothmarked"]}
	if w.link.veth {
		t.From, t.To = deviceA, deviceB
	}
	at := w.addr(B, "4", h.port)
	s, c := w.boundTo(unix.AF_INET, at), w.connectedTo(unix.AF_INET, at)
	for _, x := range []struct{ outer, inner, count int }{
		{ecnCapable, ecnCapable, w.want["capable"]},
		{ecnCapable, ecnCongested, t.InnerMarked},
		{ecnCongested, ecnCapable, t.OuterMarked},
		{ecnCongested, ecnCongested, t.BothMarked},
	} {
		c.setInt(unix.IPPROTO_IP, unix.IP_TOS, x.outer)
		b := slices.Concat(h.header, t.datagram(x.inner))
		for range x.count {
			c.send("sendto", b)
			s.expectDatagram("recvfrom", 2048, len(b))
		}
	}
	c.close()
	s.close()
	t.End = now()
	w.log.Tunnels = append(w.log.Tunnels, t)
}

// datagram is an empty datagram for B in the tunnel, with a value of the ECN field. Nobody
// looks at its checksums.
func (t *Tunnel) datagram(ecn int) []byte {
	from, to := netip.MustParseAddr(t.Inner[0]), netip.MustParseAddr(t.Inner[1])
	udp := make([]byte, 8)
	binary.BigEndian.PutUint16(udp[0:], portClosed)
	binary.BigEndian.PutUint16(udp[2:], portTunnel)
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	var ip []byte
	if from.Is4() {
		ip = make([]byte, 12, 20)
		ip[0], ip[1], ip[8], ip[9] = 0x45, byte(ecn), 64, unix.IPPROTO_UDP
		binary.BigEndian.PutUint16(ip[2:], uint16(cap(ip)+len(udp)))
	} else {
		ip = make([]byte, 8, 40)
		ip[0], ip[1], ip[6], ip[7] = 0x60, byte(ecn)<<4, unix.IPPROTO_UDP, 64
		binary.BigEndian.PutUint16(ip[4:], uint16(len(udp)))
	}
	return slices.Concat(ip, from.AsSlice(), to.AsSlice(), udp)
}
