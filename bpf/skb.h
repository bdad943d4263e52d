/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the sk_buff events share. */
#ifndef NETREC_SKB_H
#define NETREC_SKB_H

#include "share.h"

/* Inode numbers of namespaces start here (6.18 put the initial ones just below
 * PROC_DYNAMIC_FIRST). */
#define FIRST_NETNS 0xefffff00u

static __always_inline u32 plausible(u32 inum)
{
	return inum >= FIRST_NETNS ? inum : 0;
}

/* The lowest bit of a packet's route says who holds it. */
static __always_inline struct dst_entry *skb_route(struct sk_buff *skb)
{
	return (void *)(READ(skb, _skb_refdst) & ~1UL);
}

/* skb_netns is the namespace of a packet, 0 if unknown. The field dev is shared with
 * a tree node and with UDP's scratch space, the route with a list, so what they lead to
 * must look like a namespace; a task that frees or makes a packet does so for its own. */
static __always_inline u32 skb_netns(struct sk_buff *skb, struct sock *sk)
{
	u32 netns = 0;

	if (sk)
		netns = plausible(READ(sk, __sk_common.skc_net.net, ns.inum));
	if (!netns && skb)
		netns = plausible(READ(skb, dev, nd_net.net, ns.inum));
	if (!netns && skb)
		netns = plausible(READ(skb_route(skb), dev, nd_net.net, ns.inum));
	if (!netns && context() == CTX_TASK)
		netns = task_netns();
	return netns;
}

#endif
