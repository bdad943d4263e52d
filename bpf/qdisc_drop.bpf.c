//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "qdisc.h"

SEC("tp_btf/qdisc_drop")
int BPF_PROG(qdisc_drop_tp, struct Qdisc *q, struct netdev_queue *txq, struct net_device *dev, struct sk_buff *skb, int reason)
{
	const bool direct = true;
	struct qdisc_drop *r;
	u32 netns;

	if (!q || !dev || !skb)
		return 0;
	netns = dev_netns(dev, direct);
	if (!want_packet(skb, dev, netns, l3_out(skb, direct), direct))
		return 0;
	r = BEGIN_FLOOD(qdisc_drop, full_sock(skb->sk), skb, netns);
	if (!r)
		return 0;
	FILL_QDISC(r, q, dev, skb);
	r->qdisc_drop_reason = reason;
	SUBMIT(r);
	return 0;
}
