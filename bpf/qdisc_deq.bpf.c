//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "qdisc.h"

static __always_inline int qdisc_deq(struct Qdisc *q, struct net_device *dev, struct sk_buff *skb, int packets, const bool direct)
{
	struct qdisc_deq *r;
	u32 netns;

	if (!share_at(0, skb, direct))
		return 0;
	netns = dev_netns(dev, direct);
	if (!want_packet(skb, dev, netns, l3_out(skb, direct), direct))
		return 0;
	r = BEGIN(qdisc_deq, full_sock(K(skb, sk)), skb, netns);
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
	return !skb || function_seen(q->ops, false) ? 0 : qdisc_deq(q, txq->dev, skb, packets, true);
}

SEC("fexit/pfifo_fast_dequeue")
int BPF_PROG(qdisc_deq_fexit, struct Qdisc *q, struct sk_buff *skb)
{
	saw_function(q->ops, false);
	return skb ? qdisc_deq(q, q->dev_queue->dev, skb, 1, true) : 0;
}

/* Before 5.11 functions of modules have no types. There the discipline is noted when the
 * function begins, and the packet taken when it ends. Disciplines call those below them, so
 * several may be under way on a CPU; they are told apart by their place on the stack. None
 * comes in between from elsewhere, because softirqs are off. */
#define MAX_NESTED 8

struct under_way {
	u64 sp[MAX_NESTED];
	u64 qdisc[MAX_NESTED];
	u32 depth;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct under_way);
} dequeues SEC(".maps");

SEC("kprobe/pfifo_fast_dequeue")
int BPF_KPROBE(qdisc_deq_kprobe, struct Qdisc *q)
{
	u32 zero = 0, i;
	struct under_way *u = bpf_map_lookup_elem(&dequeues, &zero);

	if (!u)
		return 0;
	saw_function(READ(q, ops), false);
	i = u->depth & (MAX_NESTED - 1);
	u->sp[i] = PT_REGS_SP(ctx);
	u->qdisc[i] = (u64)q;
	u->depth = i + 1;
	return 0;
}

SEC("kretprobe/pfifo_fast_dequeue")
int BPF_KRETPROBE(qdisc_deq_kretprobe, struct sk_buff *skb)
{
	u64 sp = PT_REGS_SP(ctx) - RETURN_POPS;
	struct Qdisc *q = 0;
	struct under_way *u;
	u32 zero = 0;

	u = bpf_map_lookup_elem(&dequeues, &zero);
	if (!u)
		return 0;
	for (u32 i = 0; i < MAX_NESTED; i++) {
		if (i < u->depth && u->sp[i] == sp) {
			q = (void *)u->qdisc[i];
			u->depth = i;
		}
	}
	return q && skb ? qdisc_deq(q, READ(q, dev_queue, dev), skb, 1, false) : 0;
}
