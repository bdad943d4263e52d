/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the events of network devices share. */
#ifndef NETREC_DEV_H
#define NETREC_DEV_H

#include "packet.h"

static __always_inline u32 dev_netns(const struct net_device *dev, const bool direct)
{
	return direct ? dev->nd_net.net->ns.inum : READ(dev, nd_net.net, ns.inum);
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
		fill16((r)->dev, (d)->name, direct); \
		(r)->ifindex = K(d, ifindex); \
	} while (0)

#define FILL_PACKET(r, skb) \
	do { \
		struct skb_shared_info *info = shared_info(skb); \
\
		(r)->len_bytes = (skb)->len; \
		(r)->gso_size = READ(info, gso_size); \
		(r)->gso_segs = (r)->gso_size ? READ(info, gso_segs) : 0; \
		(r)->ethertype = bpf_ntohs((skb)->protocol); \
	} while (0)

#endif
