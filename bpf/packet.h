/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the headers of a packet and the addresses of a call say. */
#ifndef NETREC_PACKET_H
#define NETREC_PACKET_H

#include "skb.h"

/* Zero where a packet does not have it; proto is 0xffff where it is not IP. */
struct headers {
	u8 saddr[16], daddr[16];
	const u8 *l4; /* 0 in all fragments but the first */
	u16 sport, dport, family, proto;
	u8 flags, tos;
};

static __always_inline u8 *network_header(struct sk_buff *skb)
{
	return BPF_CORE_READ(skb, head) + READ(skb, network_header);
}

/* Programs that look at every packet take single bytes of it by plain loads, where there is the cast for
 * them: 16 bytes of any header, as the kernel's type has them. What is not memory reads as 0. */
#define HEADER_BYTE(at, n) (TYPED((struct in6_addr *)(at))->in6_u.u6_addr8[n])
#define HEADER_BE16(at, n) bpf_ntohs(TYPED((struct in6_addr *)(at))->in6_u.u6_addr16[(n) / 2])

static __always_inline void read_l4(struct headers *h)
{
	__be16 ports[2] = {};

	if (!h->l4 || (h->proto != IPPROTO_TCP && h->proto != IPPROTO_UDP))
		return;
	bpf_probe_read_kernel(ports, sizeof(ports), h->l4);
	h->sport = bpf_ntohs(ports[0]);
	h->dport = bpf_ntohs(ports[1]);
	if (h->proto == IPPROTO_TCP)
		bpf_probe_read_kernel(&h->flags, 1, h->l4 + 13);
}

static __always_inline void skip_fragment_header(struct headers *h)
{
	u8 b[4] = {};

	if (h->proto != IPPROTO_FRAGMENT || bpf_probe_read_kernel(b, sizeof(b), h->l4))
		return;
	h->proto = b[0];
	h->l4 = b[2] | (b[3] & 0xf8) ? 0 : h->l4 + 8;
}

/* The transport header is not set yet where IP drops, so it is found from the
 * network header; of IPv6 extension headers only that of fragments is walked. */
static __always_inline void read_headers(struct headers *h, const u8 *l3, u16 ethertype)
{
	u8 b[40] = {};

	h->proto = 0xffff;
	if (bpf_probe_read_kernel(b, sizeof(b), l3))
		return;
	if (ethertype == ETH_P_IP && b[0] >> 4 == 4) {
		h->family = AF_INET;
		h->proto = b[9];
		h->tos = b[1];
		__builtin_memcpy(h->saddr, b + 12, 4);
		__builtin_memcpy(h->daddr, b + 16, 4);
		h->l4 = (b[6] & 0x1f) | b[7] ? 0 : l3 + (b[0] & 15) * 4;
	} else if (ethertype == ETH_P_IPV6 && b[0] >> 4 == 6) {
		h->family = AF_INET6;
		h->proto = b[6];
		h->tos = b[0] << 4 | b[1] >> 4;
		__builtin_memcpy(h->saddr, b + 8, 16);
		__builtin_memcpy(h->daddr, b + 24, 16);
		h->l4 = l3 + 40;
		skip_fragment_header(h);
	}
	read_l4(h);
}

/* packet_tuple is the pair of addresses as the receiver of a packet sees it. */
static __always_inline void packet_tuple(struct tuple *t, struct sk_buff *skb)
{
	struct headers h = {};

	__builtin_memset(t, 0, sizeof(*t));
	if (!skb)
		return;
	read_headers(&h, network_header(skb), bpf_ntohs(READ(skb, protocol)));
	__builtin_memcpy(t->laddr, h.daddr, 16);
	__builtin_memcpy(t->raddr, h.saddr, 16);
	t->lport = h.dport;
	t->rport = h.sport;
	t->family = h.family;
}

static __always_inline bool want_headers(struct headers *h)
{
	if (!want_proto(h->family, h->proto))
		return false;
	return want_ends(h->saddr, h->daddr, h->sport, h->dport, h->family);
}

FILTER_FN l3_wanted(u64 l3, u32 ethertype)
{
	struct headers h = {};

	read_headers(&h, (const u8 *)l3, ethertype);
	return want_headers(&h);
}

/* A packet has the state of its socket, which may be a request or in TIME_WAIT. */
FILTER_FN state_wanted(u64 sock)
{
	struct sock *sk = (void *)sock;
	u16 proto;

	if (!sk)
		return false;
	proto = full_sock(sk) ? READ(sk, sk_protocol) : IPPROTO_TCP;
	return want_states(READ(sk, __sk_common.skc_family), proto, STATE_BIT(READ(sk, __sk_common.skc_state)));
}

/* want_packet_but leaves headers to rows that have read them. */
static __always_inline bool want_packet_but(struct sk_buff *skb, const struct net_device *dev, u32 netns, const bool direct)
{
	if (!want_netns(netns) || (FILTER_DEV && !want_dev(K(dev, ifindex))))
		return false;
	if (FILTER_STATE && !state_wanted(as_number(K(skb, sk))))
		return false;
	return want_who(FILTER_WHO ? K(skb, sk) : 0);
}

/* want_packet is for rows about a packet at a device. On the way in no socket is known
 * yet, so its headers are asked. */
static __always_inline bool want_packet(struct sk_buff *skb, const struct net_device *dev, u32 netns, const u8 *l3,
					const bool direct)
{
	if (!want_packet_but(skb, dev, netns, direct))
		return false;
	return !FILTER_HEADERS || l3_wanted(as_number(l3), bpf_ntohs(K(skb, protocol)));
}

/* The field dev is shared, see skb_netns; 0 is: not known. */
FILTER_FN skb_ifindex(u64 packet)
{
	struct sk_buff *skb = (void *)packet;
	struct net_device *dev = READ(skb, dev);

	return plausible(READ(dev, nd_net.net, ns.inum)) ? READ(dev, ifindex) : 0;
}

/* want_skb_but leaves headers to rows that have read them. */
static __always_inline bool want_skb_but(struct sk_buff *skb, struct sock *sk, u32 netns)
{
	if (!want_netns(netns) || (FILTER_DEV && !want_dev(skb_ifindex(as_number(skb)))))
		return false;
	return (!FILTER_STATE || state_wanted(as_number(sk))) && want_who(sk);
}

/* A packet that has a socket may have no headers yet. */
FILTER_FN skb_wanted(u64 packet, u64 sock)
{
	struct sk_buff *skb = (void *)packet;

	if (full_sock((void *)sock))
		return sock_wanted(sock, 0);
	return l3_wanted((u64)network_header(skb), bpf_ntohs(READ(skb, protocol)));
}

/* want_skb is for rows about a packet anywhere. */
static __always_inline bool want_skb(struct sk_buff *skb, struct sock *sk, u32 netns)
{
	if (FILTER_HEADERS && !skb_wanted(as_number(skb), as_number(sk)))
		return false;
	return want_skb_but(skb, sk, netns);
}

/* want_tcp is for rows of TCP with ends of their own; the socket may be a listener, a
 * request, in TIME_WAIT or 0. */
static __always_inline bool want_tcp(struct tuple *t, struct sock *sk, u32 netns)
{
	if (!want_netns(netns) || !want_tuple(t) || !want_proto(t->family, IPPROTO_TCP))
		return false;
	if (FILTER_DEV && sk && !want_dev(READ(sk, __sk_common.skc_bound_dev_if)))
		return false;
	return (!FILTER_STATE || state_wanted(as_number(sk))) && want_who(sk);
}

/* read_sockaddr copies an IP address and port from a sockaddr in kernel memory. */
static __always_inline void read_sockaddr(const void *name, u8 *addr, u16 *port, u16 *family)
{
	struct sockaddr_in6 sa = {};

	__builtin_memset(addr, 0, 16);
	*port = 0;
	*family = 0;
	if (!name || bpf_probe_read_kernel(&sa.sin6_family, sizeof(u16), name) || !is_inet(sa.sin6_family))
		return;
	if (bpf_probe_read_kernel(&sa, sa.sin6_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(sa), name))
		return;
	*family = sa.sin6_family;
	*port = bpf_ntohs(sa.sin6_port);
	if (sa.sin6_family == AF_INET)
		*(u32 *)addr = ((struct sockaddr_in *)&sa)->sin_addr;
	else
		__builtin_memcpy(addr, sa.sin6_addr, 16);
}

/* raw_arg reads an argument of a tracing program without its type: where the verifier
 * takes a pointer for never NULL, it would remove the test for it. */
static __always_inline u64 raw_arg(const u64 *ctx, const int n)
{
	u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), ctx + n);
	return v;
}

#endif
