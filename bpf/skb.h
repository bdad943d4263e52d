/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the sk_buff events share. */
#ifndef NETREC_SKB_H
#define NETREC_SKB_H

#include "netrec.h"

/* Inode numbers of namespaces start here (6.18 put the initial ones just below
 * PROC_DYNAMIC_FIRST). */
#define FIRST_NETNS 0xefffff00u

static __always_inline u32 plausible(u32 inum)
{
	return inum >= FIRST_NETNS ? inum : 0;
}

/* skb_netns is the namespace of a packet, 0 if unknown. The field dev is shared with
 * a tree node and with UDP's scratch space, so what it leads to must look like
 * a namespace; a task that frees or makes a packet does so for its own. */
static __always_inline u32 skb_netns(struct sk_buff *skb, struct sock *sk)
{
	u32 netns = 0;

	if (sk)
		netns = plausible(BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum));
	if (!netns && skb)
		netns = plausible(BPF_CORE_READ(skb, dev, nd_net.net, ns.inum));
	if (!netns && context() == CTX_TASK)
		netns = task_netns();
	return netns;
}

/* A packet may belong to a request or to a connection in TIME_WAIT, which are not
 * whole sockets; their address says nothing about a socket. */
static __always_inline struct sock *full_sock(struct sock *sk)
{
	u8 state = sk ? BPF_CORE_READ(sk, __sk_common.skc_state) : 0;

	return state == TCP_TIME_WAIT || state == TCP_NEW_SYN_RECV ? 0 : sk;
}

static __always_inline bool want_netns(u32 netns)
{
	return !cfg_netns || netns == cfg_netns;
}

#endif
