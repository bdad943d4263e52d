//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "packet.h"

struct icmp_header {
	u8 type;
	u8 code;
	__be16 checksum;
	__be16 id;
	__be16 seq;
};

/* One byte decides for nearly every packet that it is none of these. */
static __always_inline bool maybe_icmp(const u8 *l3, u16 ethertype)
{
	const bool v4 = ethertype == ETH_P_IP;
	u8 proto = 0;

	if (!v4 && ethertype != ETH_P_IPV6)
		return false;
	if (cfg_cast)
		proto = v4 ? HEADER_BYTE(l3, 9) : HEADER_BYTE(l3, 6);
	else
		bpf_probe_read_kernel(&proto, 1, l3 + (v4 ? 9 : 6));
	return v4 ? proto == IPPROTO_ICMP : proto == IPPROTO_ICMPV6 || proto == IPPROTO_FRAGMENT;
}

static __always_inline bool read_echo(struct headers *h, struct icmp_header *icmp)
{
	if (!h->l4 || bpf_probe_read_kernel(icmp, sizeof(*icmp), h->l4))
		return false;
	if (h->family == AF_INET)
		return h->proto == IPPROTO_ICMP && (icmp->type == 8 || icmp->type == 0);
	return h->proto == IPPROTO_ICMPV6 && (icmp->type == 128 || icmp->type == 129);
}

static __always_inline int icmp_echo(struct sk_buff *skb, const u8 *l3, const u8 dir)
{
	u16 ethertype = bpf_ntohs(skb->protocol);
	struct icmp_header icmp = {};
	struct headers h = {};
	struct icmp_echo *r;
	u32 netns;

	if (!maybe_icmp(l3, ethertype))
		return 0;
	netns = skb->dev->nd_net.net->ns.inum;
	if (!want_packet(skb, skb->dev, netns, l3, true))
		return 0;
	read_headers(&h, l3, ethertype);
	if (!read_echo(&h, &icmp))
		return 0;
	r = BEGIN_FLOOD(icmp_echo, full_sock(skb->sk), skb, netns);
	if (!r)
		return 0;
	__builtin_memcpy(r->saddr, h.saddr, 16);
	__builtin_memcpy(r->daddr, h.daddr, 16);
	r->family = h.family;
	r->icmp_id = bpf_ntohs(icmp.id);
	r->icmp_seq = bpf_ntohs(icmp.seq);
	r->icmp_type = icmp.type;
	r->dir = dir;
	r->len_bytes = skb->len;
	r->ifindex = skb->dev->ifindex;
	bpf_probe_read_kernel(r->dev, sizeof(r->dev), &skb->dev->name);
	SUBMIT(r);
	return 0;
}

/* The device layer has not set the network header yet: it is where the data begins. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(icmp_echo_recv_tp, struct sk_buff *skb)
{
	return icmp_echo(skb, skb->data, DIR_RECV);
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(icmp_echo_send_tp, struct sk_buff *skb)
{
	return icmp_echo(skb, skb->head + skb->network_header, DIR_SEND);
}
