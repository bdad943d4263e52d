//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "qdisc.h"

static __always_inline int qdisc_deq(struct Qdisc *q, struct net_device *dev, struct sk_buff *skb, int packets)
{
	const bool direct = true;
	u32 netns = dev_netns(dev, direct);
	struct qdisc_deq *r;

	if (!want_packet(skb, dev, netns, l3_out(skb, direct), direct))
		return 0;
	r = BEGIN(qdisc_deq, full_sock(skb->sk), skb, netns);
	if (!r)
		return 0;
	FILL_QDISC(r, q, dev, skb);
	r->packets = packets;
	SUBMIT(r);
	return 0;
}

/* The kernel also reports that there was nothing to take. */
SEC("tp_btf/qdisc_dequeue")
int BPF_PROG(qdisc_deq_tp, struct Qdisc *q, struct netdev_queue *txq, int packets, struct sk_buff *skb)
{
	return !skb || function_seen(q->ops, false) ? 0 : qdisc_deq(q, txq->dev, skb, packets);
}

SEC("fexit/pfifo_fast_dequeue")
int BPF_PROG(qdisc_deq_fexit, struct Qdisc *q, struct sk_buff *skb)
{
	saw_function(q->ops, false);
	return skb ? qdisc_deq(q, q->dev_queue->dev, skb, 1) : 0;
}
