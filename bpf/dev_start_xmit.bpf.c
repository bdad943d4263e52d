//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "dev.h"

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(dev_start_xmit_tp, struct sk_buff *skb, struct net_device *dev)
{
	const bool direct = true;
	struct dev_start_xmit *r;
	u32 netns;

	if (!share_at(0, skb, direct))
		return 0;
	netns = dev_netns(dev, direct);
	if (!want_packet(skb, dev, netns, l3_out(skb, direct), direct))
		return 0;
	r = BEGIN(dev_start_xmit, full_sock(skb->sk), skb, netns);
	if (!r)
		return 0;
	FILL_DEV(r, dev);
	FILL_PACKET(r, skb);
	r->data_len_bytes = skb->data_len;
	r->queue = skb->queue_mapping;
	SUBMIT(r);
	return 0;
}
