/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Where in a packet of a tunnel the IP header lies that the tunnel carries. */
#ifndef NETREC_TUNNEL_H
#define NETREC_TUNNEL_H

#include "packet.h"

#define PORT_VXLAN 4789
#define PORT_VXLAN_BEFORE 8472 /* Linux's own, from before the number was assigned */
#define PORT_GENEVE 6081
#define PORT_IPSEC 4500 /* for ESP in UDP */

#define VXLAN_HAS_VNI 0x08
#define GENEVE_OPTIONS 0x3f
#define GENEVE_VERSION 0xc0
#define GRE_CHECKSUM 0x8000
#define GRE_ROUTING 0x4000
#define GRE_KEY 0x2000
#define GRE_SEQUENCE 0x1000
#define GRE_VERSION 0x0007

static __always_inline u16 be16(const u8 *b)
{
	return b[0] << 8 | b[1];
}

/* What decides for nearly every packet whether it is marked and whether it may be a tunnel's. */
struct first {
	u8 bytes[2];
	u8 proto;
	u16 port; /* destination, of UDP alone; IPv4's is elsewhere if it has options */
};

#define FIRST_BYTES 44
#define FIRST_BYTES_V4 24

static __always_inline bool read_first(struct first *f, const u8 *l3, const bool v4)
{
	u8 b[FIRST_BYTES] = {};

	if (cfg_cast) {
		f->bytes[0] = HEADER_BYTE(l3, 0);
		f->bytes[1] = HEADER_BYTE(l3, 1);
		f->proto = v4 ? HEADER_BYTE(l3, 9) : HEADER_BYTE(l3, 6);
		f->port = f->proto != IPPROTO_UDP ? 0 : v4 ? HEADER_BE16(l3 + 16, 6) : HEADER_BE16(l3 + 32, 10);
		return true;
	}
	if (bpf_probe_read_kernel(b, v4 ? FIRST_BYTES_V4 : FIRST_BYTES, l3))
		return false;
	f->bytes[0] = b[0];
	f->bytes[1] = b[1];
	f->proto = v4 ? b[9] : b[6];
	f->port = f->proto != IPPROTO_UDP ? 0 : v4 ? be16(b + 22) : be16(b + 42);
	return true;
}

static __always_inline bool is_tunnel_port(u16 port)
{
	return port == PORT_VXLAN || port == PORT_VXLAN_BEFORE || port == PORT_GENEVE;
}

/* may_carry is false for nearly every packet. One with options takes a closer look. */
static __always_inline bool may_carry(const struct first *f, const bool v4)
{
	switch (f->proto) {
	case IPPROTO_UDP:
		return is_tunnel_port(f->port) || (v4 && f->bytes[0] != 0x45);
	case IPPROTO_IPIP:
	case IPPROTO_IPV6:
	case IPPROTO_GRE:
		return true;
	case IPPROTO_FRAGMENT:
	case IPPROTO_DSTOPTS:
		return !v4;
	}
	return false;
}

/* carried is where the IP header is that something of an Ethernet type has: itself, or in an
 * Ethernet frame without a VLAN. */
static __always_inline u64 carried(u64 at, u16 ethertype)
{
	u8 b[2] = {};

	if (ethertype == ETH_P_TEB) {
		bpf_probe_read_kernel(b, sizeof(b), (void *)at + 12);
		ethertype = be16(b);
		at += 14;
	}
	return ethertype == ETH_P_IP || ethertype == ETH_P_IPV6 ? at : 0;
}

static __always_inline u64 in_gre(u64 l4)
{
	u8 b[4] = {};
	u16 flags;

	bpf_probe_read_kernel(b, sizeof(b), (void *)l4);
	flags = be16(b);
	if (flags & (GRE_ROUTING | GRE_VERSION))
		return 0;
	l4 += 4 + (flags & GRE_CHECKSUM ? 4 : 0) + (flags & GRE_KEY ? 4 : 0) + (flags & GRE_SEQUENCE ? 4 : 0);
	return carried(l4, be16(b + 2));
}

static __always_inline u64 in_udp(u64 l4, u16 port)
{
	u8 b[4] = {};

	if (!is_tunnel_port(port) || bpf_probe_read_kernel(b, sizeof(b), (void *)l4 + 8))
		return 0;
	if (port == PORT_GENEVE)
		return b[0] & GENEVE_VERSION ? 0 : carried(l4 + 16 + (b[0] & GENEVE_OPTIONS) * 4, be16(b + 2));
	return b[0] & VXLAN_HAS_VNI ? carried(l4 + 16, ETH_P_TEB) : 0;
}

/* Tunnels over IPv6 say in an option how deep they may be nested. */
static __always_inline void skip_options(struct headers *h)
{
	u8 b[2] = {};

	if (h->family != AF_INET6 || h->proto != IPPROTO_DSTOPTS || bpf_probe_read_kernel(b, sizeof(b), h->l4))
		return;
	h->proto = b[0];
	h->l4 += (b[1] + 1) * 8;
	read_l4(h);
}

static __always_inline u64 in_packet(u64 l3, u16 ethertype)
{
	struct headers h = {};

	read_headers(&h, (const u8 *)l3, ethertype);
	if (!h.l4)
		return 0; /* of a fragment that is not the first */
	skip_options(&h);
	switch (h.proto) {
	case IPPROTO_IPIP:
	case IPPROTO_IPV6:
		return (u64)h.l4;
	case IPPROTO_GRE:
		return in_gre((u64)h.l4);
	case IPPROTO_UDP:
		return in_udp((u64)h.l4, h.dport);
	}
	return 0;
}

/* inner_at is how far behind the IP header l3 the one inside it begins, 0 where there is none.
 * Beyond end the packet is not in one piece, and what lies there is not its own. Where the
 * headers tell nothing, noted is what the kernel noted down, or 0. */
__attribute__((noinline)) int inner_at(u64 l3, u64 end, u64 noted, u32 ethertype)
{
	u64 at = in_packet(l3, ethertype) ?: noted;
	u8 b = 0, size;

	if (at <= l3 || bpf_probe_read_kernel(&b, 1, (void *)at))
		return 0;
	size = b >> 4 == 4 ? 20 : 40;
	return (b >> 4 == 4 || b >> 4 == 6) && at + size <= end ? at - l3 : 0;
}

/* What IPsec has encrypted since is no header any more. */
static __always_inline bool is_encrypted(const struct first *f)
{
	return f->proto == IPPROTO_ESP || f->port == PORT_IPSEC;
}

/* inner_header asks inner_at about a packet that begins like this. On the way out the
 * kernel notes for any tunnel where the inner header is, until the packet is cut to size; but
 * not if nothing was left to a device to do. */
static __always_inline u32 inner_header(struct sk_buff *skb, const struct first *f, const u8 *l3, u16 ethertype, const bool out)
{
	const bool v4 = ethertype == ETH_P_IP;
	u64 noted = 0;

	if (out && BPF_CORE_READ_BITFIELD(skb, encapsulation) && !is_encrypted(f))
		noted = as_number(skb->head + skb->inner_network_header);
	if (!noted && !may_carry(f, v4))
		return 0;
	return inner_at(as_number(l3), as_number(skb->data) + skb->len - skb->data_len, noted, ethertype);
}

#endif
