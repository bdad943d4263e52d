package traffic

import (
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/sys/unix"
)

// Tunnel is a time during which datagrams went from A to B through a tunnel, and how many of
// them were marked for congestion in which header: in the inner one by the sender, in the
// outer one by the link's queue.
type Tunnel struct {
	Kind   string `json:"kind"`
	Device string `json:"device,omitempty"` // on both sides
	// Handmade: there is no device, and the sender has marked outer headers too.
	Handmade bool `json:"handmade,omitempty"`
	// From and To are the devices of the two sides that the tunnel goes over.
	From string `json:"from"`
	To   string `json:"to"`
	// Protocol is the next header of the outer one, Port the destination port behind that.
	Protocol string `json:"protocol"`
	Port     int    `json:"port,omitempty"`
	// Outer and Inner are the addresses of A and of B.
	Outer [2]string `json:"outer"`
	Inner [2]string `json:"inner"`

	InnerMarked int `json:"inner_marked"`
	OuterMarked int `json:"outer_marked"`
	BothMarked  int `json:"both_marked"`
	// Unfit were made by hand: marked outside by the sender, not capable of marks inside. The
	// other end has to throw them away.
	Unfit int `json:"unfit,omitempty"`

	Begin int64 `json:"begin"`
	End   int64 `json:"end"`
}

// tunnelKind is how ip makes a tunnel; < and > stand for the addresses of its ends.
type tunnelKind struct {
	kind, make   string
	outer, inner string // forms of addresses
	protocol     string
	port         int
	ethernet     bool // it carries frames
}

// tunnelKinds have each form of header that leads to an inner one: GRE with everything
// optional, IPv6 with the option that limits nesting, VXLAN at both of its ports.
var tunnelKinds = []tunnelKind{
	{kind: "ipip", make: "ipip local < remote >", outer: "4", inner: "4", protocol: "ipip"},
	{kind: "sit", make: "sit local < remote >", outer: "4", inner: "6", protocol: "ipv6"},
	{kind: "ip6ip6", make: "ip6tnl mode ip6ip6 local < remote >", outer: "6", inner: "6", protocol: "dstopts"},
	{kind: "ipip6", make: "ip6tnl mode ipip6 local < remote > encaplimit none", outer: "6", inner: "4", protocol: "ipip"},
	{kind: "gre", make: "gre local < remote > key 7 csum seq", outer: "4", inner: "4", protocol: "gre"},
	{kind: "gretap", make: "gretap local < remote >", outer: "4", inner: "4", protocol: "gre", ethernet: true},
	{kind: "vxlan", make: "vxlan id 7 local < remote > dstport 4789", outer: "4", inner: "4", protocol: "udp", port: 4789, ethernet: true},
	{kind: "vxlan6", make: "vxlan id 9 local < remote > dstport 8472", outer: "6", inner: "4", protocol: "udp", port: 8472, ethernet: true},
	{kind: "geneve", make: "geneve id 7 remote >", outer: "4", inner: "4", protocol: "udp", port: 6081, ethernet: true},
}

// tunnelAddrs are the addresses of each side in whatever tunnel there is.
var tunnelAddrs = map[Side][2]netip.Addr{
	A: {netip.MustParseAddr("10.79.0.1"), netip.MustParseAddr("fd79::1")},
	B: {netip.MustParseAddr("10.79.0.2"), netip.MustParseAddr("fd79::2")},
}

// tunnelMACs are the hardware addresses of tunnels that carry frames.
var tunnelMACs = map[Side]string{A: "02:79:00:00:00:01", B: "02:79:00:00:00:02"}

// loadTunnels loads the kinds before a recorder begins.
func loadTunnels() {
	for _, module := range []string{"ipip", "sit", "ip6_tunnel", "ip_gre", "vxlan", "geneve"} {
		_ = command("modprobe", module) // one may be part of the kernel
	}
}

// tunnels sends datagrams through one tunnel after the other.
func (w *worker) tunnels() {
	for _, h := range handmadeTunnels {
		w.byHand(h)
	}
	if !w.link.veth {
		return // loopback has no other end
	}
	defer w.reshape("delay", delayA)
	for _, k := range tunnelKinds {
		t := &Tunnel{Kind: k.kind, Device: "t" + k.kind, From: deviceA, To: deviceB, Protocol: k.protocol, Port: k.port, Begin: now(), Outer: w.ends(k.outer), Inner: innerEnds(k.inner)}
		if err := w.dig(k, t); err != nil {
			w.log.Degraded = append(w.log.Degraded, fmt.Sprintf("tunnel: %v; nothing went through it", err))
			continue
		}
		w.through(k, t)
		if k.kind == "ipip" {
			w.unfit(t)
		}
		for _, side := range []Side{A, B} {
			if err := command("ip", "-n", w.link.names[side], "link", "del", t.Device); err != nil {
				w.fail("%w", err)
			}
		}
		t.End = now()
		w.log.Tunnels = append(w.log.Tunnels, *t)
	}
}

// ends are the addresses of both sides on the link.
func (w *worker) ends(form string) [2]string {
	return [2]string{w.addr(A, form, 0).Addr().String(), w.addr(B, form, 0).Addr().String()}
}

// innerEnds are the addresses of both sides in a tunnel.
func innerEnds(form string) [2]string {
	return [2]string{inTunnel(A, form).String(), inTunnel(B, form).String()}
}

// inTunnel is a side's address in a tunnel.
func inTunnel(side Side, form string) netip.Addr {
	if form == "6" {
		return tunnelAddrs[side][1]
	}
	return tunnelAddrs[side][0]
}

// dig makes both ends of a tunnel.
func (w *worker) dig(k tunnelKind, t *Tunnel) error {
	for i, side := range []Side{A, B} {
		script := strings.Join(k.commands(t, i, side, []Side{B, A}[i]), " && ")
		if err := command("ip", "netns", "exec", w.link.names[side], "sh", "-c", script); err != nil {
			return err
		}
	}
	return nil
}

// commands make an end of a tunnel that sends nothing by itself: IPv6 would greet the other
// end, which may not be there yet.
func (k tunnelKind) commands(t *Tunnel, i int, side, peer Side) []string {
	dev := " dev " + t.Device
	kind := strings.NewReplacer("<", t.Outer[i], ">", t.Outer[1-i]).Replace(k.make)
	out := []string{"ip link add" + dev + " type " + kind}
	if k.ethernet {
		out = append(out, "ip link set"+dev+" address "+tunnelMACs[side])
	}
	if k.inner == "6" {
		return append(out, "ip link set"+dev+" addrgenmode none up", "ip addr add "+t.Inner[i]+"/64"+dev+" nodad")
	}
	out = append(out, "echo 1 > /proc/sys/net/ipv6/conf/"+t.Device+"/disable_ipv6", "ip link set"+dev+" up", "ip addr add "+t.Inner[i]+"/24"+dev)
	if k.ethernet {
		out = append(out, "ip neigh replace "+t.Inner[1-i]+" lladdr "+tunnelMACs[peer]+dev+" nud permanent")
	}
	return out
}

// through sends datagrams that the sender marks, that the link's queue marks, and that both
// do, behind some that nobody marks.
func (w *worker) through(k tunnelKind, t *Tunnel) {
	to := netip.AddrPortFrom(inTunnel(B, k.inner), portTunnel)
	s, c := w.boundTo(familyOf(k.inner), to), w.connectedTo(familyOf(k.inner), to)
	w.marked(c, s, k.inner, ecnCapable, w.want["capable"])
	t.InnerMarked = w.want["innermarked"]
	w.marked(c, s, k.inner, ecnCongested, t.InnerMarked)
	if w.link.netem {
		t.OuterMarked, t.BothMarked = w.want["outermarked"], w.want["bothmarked"]
		w.reshape("delay", delayA, "loss", "100%", "ecn")
		w.marked(c, s, k.inner, ecnCapable, t.OuterMarked)
		w.marked(c, s, k.inner, ecnCongested, t.BothMarked)
		w.reshape("delay", delayA)
	}
	c.close()
	s.close()
}

// unfit sends packets of IPIP made by hand, and waits until the other end has seen them.
func (w *worker) unfit(t *Tunnel) {
	s := w.raw("tunneller", unix.AF_INET, unix.IPPROTO_IPIP)
	s.setInt(unix.IPPROTO_IP, unix.IP_TOS, ecnCongested)
	before := w.counter(B, "IpExt.InCEPkts")
	t.Unfit = w.want["unfit"]
	for range t.Unfit {
		s.sendPacket(netip.AddrPortFrom(w.addr(B, "4", 0).Addr(), 0), t.datagram(0))
	}
	w.until("packets with a mark", func() bool { return w.counter(B, "IpExt.InCEPkts") >= before+t.Unfit })
	s.close()
}
