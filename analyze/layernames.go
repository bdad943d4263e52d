package analyze

import "strings"

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
