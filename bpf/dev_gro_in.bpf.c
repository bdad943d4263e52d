//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "dev.h"

static __always_inline int dev_gro_in(struct sk_buff *skb)
{
	const bool direct = true;
	struct net_device *dev;
	struct dev_gro_in *r;
	u32 netns;

	if (!share_at(AT_GRO, skb, direct))
		return 0;
	dev = skb->dev;
	netns = dev_netns(dev, direct);
	if (!want_packet(skb, dev, netns, l3_in(skb), direct))
		return 0;
	r = BEGIN(dev_gro_in, 0, skb, netns);
	if (!r)
		return 0;
	FILL_DEV(r, dev);
	FILL_PACKET(r, skb);
	r->queue = skb->queue_mapping - 1; /* 0 there is: not recorded */
	SUBMIT(r);
	return 0;
}

SEC("tp_btf/napi_gro_receive_entry")
int BPF_PROG(dev_gro_in_tp, struct sk_buff *skb)
{
	return dev_gro_in(skb);
}

SEC("tp_btf/napi_gro_frags_entry")
int BPF_PROG(dev_gro_in_frags_tp, struct sk_buff *skb)
{
	return dev_gro_in(skb);
}
