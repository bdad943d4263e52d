//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "dev.h"

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(dev_recv_tp, struct sk_buff *skb)
{
	const bool direct = true;
	struct net_device *dev;
	struct dev_recv *r;
	u32 netns;

	if (!share_at(AT_STACK, skb, direct))
		return 0;
	dev = skb->dev;
	netns = dev_netns(dev, direct);
	if (!want_packet(skb, dev, netns, l3_in(skb), direct))
		return 0;
	r = BEGIN(dev_recv, 0, skb, netns);
	if (!r)
		return 0;
	FILL_DEV(r, dev);
	FILL_PACKET(r, skb);
	SUBMIT(r);
	return 0;
}
