//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "qdisc.h"

static __always_inline int qdisc_enq(struct Qdisc *q, struct net_device *dev, struct sk_buff *skb, u8 taken, const bool direct)
{
	struct qdisc_enq *r;
	u32 netns;

	if (!share_at(0, skb, direct))
		return 0;
	netns = dev_netns(dev, direct);
	if (!want_packet(skb, dev, netns, l3_out(skb, direct), direct))
		return 0;
	r = BEGIN(qdisc_enq, full_sock(K(skb, sk)), skb, netns);
	if (!r)
		return 0;
	FILL_QDISC(r, q, dev, skb);
	r->taken = taken;
	SUBMIT(r);
	return 0;
}

SEC("tp_btf/qdisc_enqueue")
int BPF_PROG(qdisc_enq_tp, struct Qdisc *q, struct netdev_queue *txq, struct sk_buff *skb)
{
	return function_seen(q->ops, true) ? 0 : qdisc_enq(q, txq->dev, skb, 1, true);
}

SEC("fentry/pfifo_fast_enqueue")
int BPF_PROG(qdisc_enq_fentry, struct sk_buff *skb, struct Qdisc *q)
{
	saw_function(q->ops, true);
	return qdisc_enq(q, q->dev_queue->dev, skb, 0xff, true);
}

SEC("kprobe/pfifo_fast_enqueue")
int BPF_KPROBE(qdisc_enq_kprobe, struct sk_buff *skb, struct Qdisc *q)
{
	return qdisc_enq(q, READ(q, dev_queue, dev), skb, 0xff, false);
}
