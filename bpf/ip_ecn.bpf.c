//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "tunnel.h"

#define ECN_MASK 3
#define ECN_CE 3
#define NO_TOS 0xffff

/* The first two bytes of an IP header have its version and the mark. */
static __always_inline bool marked_ce(const u8 *b)
{
	return ((b[0] >> 4 == 4 ? b[1] : b[1] >> 4) & ECN_MASK) == ECN_CE;
}

static __always_inline void fill_outer(struct ip_ecn *r, struct headers *h)
{
	__builtin_memcpy(r->saddr, h->saddr, 16);
	__builtin_memcpy(r->daddr, h->daddr, 16);
	r->sport = h->sport;
	r->dport = h->dport;
	r->family = h->family;
	r->protocol = h->proto;
	r->tos = h->tos;
}

static __always_inline void fill_inner(struct ip_ecn *r, struct headers *h)
{
	__builtin_memcpy(r->inner_saddr, h->saddr, 16);
	__builtin_memcpy(r->inner_daddr, h->daddr, 16);
	r->inner_sport = h->sport;
	r->inner_dport = h->dport;
	r->inner_family = h->family;
	r->inner_protocol = h->proto;
	r->inner_tos = h->family ? h->tos : NO_TOS;
}

/* ip_ecn_row makes the row; inner is where the header inside begins, or 0, and version that
 * header's. */
static __always_inline int ip_ecn_row(struct sk_buff *skb, struct net_device *dev, const u8 *l3, const u8 *inner, u8 version,
				      const u8 stage)
{
	struct headers h = {}, in = {.proto = 0xffff};
	u32 netns = dev->nd_net.net->ns.inum;
	struct ip_ecn *r;

	if (!want_packet_but(skb, dev, netns, true))
		return 0;
	read_headers(&h, l3, bpf_ntohs(skb->protocol));
	if (inner)
		read_headers(&in, inner, version == 4 ? ETH_P_IP : ETH_P_IPV6);
	if (!want_headers(&h) && !(inner && want_headers(&in)))
		return 0;
	r = BEGIN_FLOOD(ip_ecn, full_sock(skb->sk), skb, netns);
	if (!r)
		return 0;
	fill_outer(r, &h);
	fill_inner(r, &in);
	r->len_bytes = skb->len;
	r->ifindex = dev->ifindex;
	bpf_probe_read_kernel(r->dev, sizeof(r->dev), &dev->name);
	r->dir = stage == STAGE_RECEIVED ? DIR_RECV : DIR_SEND;
	r->stage = stage;
	SUBMIT(r);
	return 0;
}

/* A few bytes decide for nearly every packet that it is none of these. */
static __always_inline int ip_ecn(struct sk_buff *skb, struct net_device *dev, const u8 *l3, const u8 stage)
{
	u16 ethertype = bpf_ntohs(skb->protocol);
	struct first f;
	u8 inside[2] = {};
	u32 at;

	if (ethertype != ETH_P_IP && ethertype != ETH_P_IPV6)
		return 0;
	if (!(ethertype == ETH_P_IP ? read_first(&f, l3, true) : read_first(&f, l3, false)))
		return 0;
	at = inner_header(skb, &f, l3, ethertype, stage != STAGE_RECEIVED);
	if (at)
		bpf_probe_read_kernel(inside, sizeof(inside), l3 + at);
	if (!marked_ce(f.bytes) && !marked_ce(inside))
		return 0;
	return ip_ecn_row(skb, dev, l3, at ? l3 + at : 0, inside[0] >> 4, stage);
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
