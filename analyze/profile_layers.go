package analyze

import (
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

// Layers outside of the network stack.
const (
	otherKernel = "other kernel"
	userSpace   = "user space"
)

// layerCounts is how many samples were in a layer.
type layerCounts struct{ self, within [12]int64 }

// inLayer is a line of the table: how many samples of a key were in a layer.
type inLayer struct {
	name              string
	self, within, all int64
}

var layerFields = []render.Field[inLayer]{
	render.Text("layer", func(l *inLayer) string { return l.name }).Text("LAYER", -16),
	render.Num("self", func(l *inLayer) int64 { return l.self }).Text("SELF", 8),
	render.Num("self_percent", func(l *inLayer) int64 { return l.self * 1000 / l.all }).As(render.Fixed).Digits(1).Text("%", 6),
	render.Num("within", func(l *inLayer) int64 { return l.within }).Text("WITHIN", 8),
	render.Num("within_percent", func(l *inLayer) int64 { return l.within * 1000 / l.all }).As(render.Fixed).Digits(1).Text("%", 6),
}

type layers struct {
	t     *render.List[shape.Entry[engine.Key, inLayer]]
	keys  *engine.Keys
	known map[string]int // by function name
	by    agg.Keyed[engine.Key, layerCounts]
	total int64
}

func newLayers(in *engine.Input, keys *engine.Keys) *layers {
	return &layers{keys: keys, known: map[string]int{}, t: render.ListOf(in.Table, render.Spec{Name: "layers"}, shape.EntryFields(shape.Headed(keys.Fields, -16), layerFields...)...)}
}

// names lists the rows: the layers, then the rest.
func (f *layers) names() []string {
	var ns []string
	for i := range stackLayers {
		ns = append(ns, stackLayers[i].name)
	}
	return append(ns, otherKernel, userSpace)
}

// add counts a sample with its stacks, folded, outermost first.
func (f *layers) add(r *engine.Row, kernel, user string) {
	c := f.by.At(f.keys.Of(r))
	if c == nil {
		return
	}
	f.total++
	self, seen := -1, uint(0)
	for rest := kernel; rest != ""; {
		i := strings.LastIndexByte(rest, ';')
		if l := f.of(rest[i+1:]); l >= 0 {
			if self < 0 {
				self = l
			}
			seen |= 1 << l
		}
		rest = rest[:max(i, 0)]
	}
	other, outside := len(stackLayers), len(stackLayers)+1
	switch {
	case self < 0 && kernel != "":
		self = other
	case self < 0:
		self = outside
	}
	if kernel != "" && seen == 0 {
		seen |= 1 << other
	}
	if user != "" {
		seen |= 1 << outside
	}
	c.self[self]++
	for l := range c.within {
		if seen&(1<<l) != 0 {
			c.within[l]++
		}
	}
}

// of is the layer of a frame, -1 if it belongs to none.
func (f *layers) of(frame string) int {
	name, _, _ := strings.Cut(frame, "+0x")
	l, ok := f.known[name]
	if !ok {
		if len(f.known) >= 1<<16 {
			clear(f.known)
		}
		l = layerOf(name)
		f.known[strings.Clone(name)] = l
	}
	return l
}

// Finish shows the layers that have samples.
func (f *layers) Finish(*render.Answer) {
	for _, k := range f.by.Sorted(func(c *layerCounts) int64 { return -sum(c.self[:]) }, engine.Key.Compare) {
		c := f.by.At(k)
		all := sum(c.self[:])
		for i, name := range f.names() {
			if c.self[i]+c.within[i] > 0 {
				f.t.Line(shape.Entry[engine.Key, inLayer]{Key: k, Value: &inLayer{name, c.self[i], c.within[i], all}})
			}
		}
	}
}

func sum(ns []int64) int64 {
	s := int64(0)
	for _, n := range ns {
		s += n
	}
	return s
}

// layer is a part of the network stack that functions belong to by their name.
type layer struct {
	name               string
	prefixes, suffixes []string
}

// stackLayers are the layers; the first that a name fits is its.
var stackLayers = []layer{
	{name: "TCP", prefixes: []string{"tcp_", "__tcp_", "inet_csk_", "tcp4_", "tcp6_"}},
	{name: "UDP", prefixes: []string{"udp", "__udp"}},
	{name: "softirq", prefixes: []string{"__do_softirq", "handle_softirqs", "do_softirq", "run_ksoftirqd", "net_rx_action", "net_tx_action", "irq_exit", "__irq_exit"}},
	{name: "qdisc", prefixes: []string{"qdisc_", "__qdisc_", "sch_direct_xmit", "dev_qdisc_"}, suffixes: []string{"_enqueue", "_dequeue"}},
	{name: "packet buffers", prefixes: []string{"skb_", "__skb_", "__alloc_skb", "alloc_skb", "build_skb", "__build_skb", "napi_build_skb", "kfree_skb",
		"__kfree_skb", "consume_skb", "napi_consume_skb", "pskb_", "csum_", "__netdev_alloc", "__napi_alloc"}},
	{name: "socket", prefixes: []string{"sock_", "__sock_", "sk_", "__sk_", "__sys_send", "__sys_recv", "___sys_send", "___sys_recv", "__sys_connect",
		"__sys_accept", "__sys_socket", "__x64_sys_send", "__x64_sys_recv", "inet_sendmsg", "inet_recvmsg", "inet6_sendmsg", "inet6_recvmsg",
		"inet_accept", "inet_stream", "unix_", "netlink_", "release_sock", "lock_sock"}},
	{name: "IP", prefixes: []string{"ip_", "__ip_", "ip4_", "ip6_", "ipv6_", "__ipv6", "inet_", "inet6_", "icmp", "fib_", "nf_", "nft_", "ipt_", "neigh_", "arp_", "dst_", "rt_"}},
	{name: "device", prefixes: []string{"dev_", "__dev_", "netif_", "__netif_", "napi_", "__napi_", "netdev_", "validate_xmit", "process_backlog", "gro_",
		"eth_", "br_", "bond_", "vlan_"}},
	{name: "driver", prefixes: []string{"veth_", "tun_", "virtnet_", "loopback_", "e1000", "ixgbe", "i40e", "ice_", "igb_", "igc_", "mlx", "ena_", "bnxt_",
		"tg3_", "rtl8169", "vmxnet3_", "netvsc_", "gve_", "iwl_", "ath"},
		suffixes: []string{"_start_xmit", "_xmit", "_xmit_frame", "_clean_rx_irq", "_clean_tx_irq"}},
}

// layerOf is the layer of a function, -1 if it belongs to none.
func layerOf(name string) int {
	for i := range stackLayers {
		for _, p := range stackLayers[i].prefixes {
			if strings.HasPrefix(name, p) {
				return i
			}
		}
		for _, s := range stackLayers[i].suffixes {
			if strings.HasSuffix(name, s) {
				return i
			}
		}
	}
	return -1
}
