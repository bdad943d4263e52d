/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the events of network devices share. */
#ifndef NETREC_DEV_H
#define NETREC_DEV_H

#include "skb.h"

static __always_inline u32 dev_netns(const struct net_device *dev, const bool direct)
{
	return direct ? dev->nd_net.net->ns.inum : BPF_CORE_READ(dev, nd_net.net, ns.inum);
}

/* has_port looks into the packet: on the way in no socket is known yet, and on the way
 * out a packet of a request has none. IPv6 extension headers are not walked. */
static __always_inline bool has_port(u16 proto, const u8 *l3)
{
	__be16 ports[2] = {};
	u8 b[10] = {}, l4;
	u32 len;

	if (bpf_probe_read_kernel(b, sizeof(b), l3))
		return false;
	if (proto == ETH_P_IP) {
		l4 = b[9];
		len = (b[0] & 15) * 4;
	} else if (proto == ETH_P_IPV6) {
		l4 = b[6];
		len = 40;
	} else {
		return false;
	}
	if (l4 != IPPROTO_TCP && l4 != IPPROTO_UDP)
		return false;
	bpf_probe_read_kernel(ports, sizeof(ports), l3 + len);
	return bpf_ntohs(ports[0]) == cfg_port || bpf_ntohs(ports[1]) == cfg_port;
}

static __always_inline bool want_packet(struct sk_buff *skb, u32 netns, const u8 *l3, const bool direct)
{
	if (!want_netns(netns))
		return false;
	if (cfg_port && !has_port(bpf_ntohs(K(skb, protocol)), l3))
		return false;
	return want_task() || context() != CTX_TASK;
}

/* On the way out the stack has noted where the IP header is; on the way in the device has
 * only just cut off its own. */
static __always_inline const u8 *l3_out(struct sk_buff *skb, const bool direct)
{
	return K(skb, head) + K(skb, network_header);
}

static __always_inline const u8 *l3_in(struct sk_buff *skb)
{
	return skb->data;
}

static __always_inline struct skb_shared_info *shared_info(struct sk_buff *skb)
{
	return (struct skb_shared_info *)(skb->head + skb->end);
}

/* A macro, because the rows have these fields at different places. */
#define FILL_DEV(r, d) \
	do { \
		bpf_probe_read_kernel((r)->dev, sizeof((r)->dev), (d)->name); \
		(r)->ifindex = K(d, ifindex); \
	} while (0)

#define FILL_PACKET(r, skb) \
	do { \
		struct skb_shared_info *info = shared_info(skb); \
\
		(r)->len_bytes = (skb)->len; \
		(r)->gso_size = BPF_CORE_READ(info, gso_size); \
		(r)->gso_segs = (r)->gso_size ? BPF_CORE_READ(info, gso_segs) : 0; \
		(r)->ethertype = bpf_ntohs((skb)->protocol); \
	} while (0)

#endif
