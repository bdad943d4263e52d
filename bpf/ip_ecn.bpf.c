//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "packet.h"

#define ECN_MASK 3
#define ECN_CE 3

/* Two bytes decide for nearly every packet that it is none of these. */
static __always_inline bool marked_ce(const u8 *l3, u16 ethertype)
{
	u8 b[2] = {};

	if ((ethertype != ETH_P_IP && ethertype != ETH_P_IPV6) || bpf_probe_read_kernel(b, sizeof(b), l3))
		return false;
	return ((ethertype == ETH_P_IP ? b[1] : b[1] >> 4) & ECN_MASK) == ECN_CE;
}

static __always_inline int ip_ecn(struct sk_buff *skb, struct net_device *dev, const u8 *l3, const u8 stage)
{
	u16 ethertype = bpf_ntohs(skb->protocol);
	struct headers h = {};
	struct ip_ecn *r;
	u32 netns;

	if (!marked_ce(l3, ethertype))
		return 0;
	netns = dev->nd_net.net->ns.inum;
	if (!want_packet(skb, dev, netns, l3, true))
		return 0;
	read_headers(&h, l3, ethertype);
	r = BEGIN_FLOOD(ip_ecn, full_sock(skb->sk), skb, netns);
	if (!r)
		return 0;
	__builtin_memcpy(r->saddr, h.saddr, 16);
	__builtin_memcpy(r->daddr, h.daddr, 16);
	r->sport = h.sport;
	r->dport = h.dport;
	r->family = h.family;
	r->protocol = h.proto;
	r->len_bytes = skb->len;
	r->ifindex = dev->ifindex;
	bpf_probe_read_kernel(r->dev, sizeof(r->dev), &dev->name);
	r->tos = h.tos;
	r->dir = stage == STAGE_RECEIVED ? DIR_RECV : DIR_SEND;
	r->stage = stage;
	SUBMIT(r);
	return 0;
}

/* The device layer has not set the network header yet: it is where the data begins. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(ip_ecn_recv_tp, struct sk_buff *skb)
{
	return ip_ecn(skb, skb->dev, skb->data, STAGE_RECEIVED);
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(ip_ecn_queue_tp, struct sk_buff *skb)
{
	return ip_ecn(skb, skb->dev, skb->head + skb->network_header, STAGE_QUEUED);
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(ip_ecn_xmit_tp, struct sk_buff *skb, struct net_device *dev)
{
	return ip_ecn(skb, dev, skb->head + skb->network_header, STAGE_STARTED);
}
