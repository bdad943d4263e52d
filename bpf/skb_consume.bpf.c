//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "packet.h"

static __always_inline int skb_consume(struct sk_buff *skb, u64 location)
{
	struct skb_consume *r;
	struct sock *sk;
	u32 netns;

	if (!share_ends(skb, true, !shown_ends))
		return 0;
	sk = skb->sk;
	netns = skb_netns(skb, sk);
	if (!want_skb(skb, sk, netns))
		return 0;
	sk = full_sock(sk);
	r = BEGIN(skb_consume, sk, skb, netns);
	if (!r)
		return 0;
	r->location = location;
	SUBMIT(r);
	return 0;
}

SEC("tp_btf/consume_skb")
int BPF_PROG(skb_consume_tp2, struct sk_buff *skb, void *location)
{
	return skb_consume(skb, (u64)location);
}

SEC("tp_btf/consume_skb")
int BPF_PROG(skb_consume_tp1, struct sk_buff *skb)
{
	return skb_consume(skb, 0);
}
