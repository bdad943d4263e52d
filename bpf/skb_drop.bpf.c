//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "again.h"
#include "packet.h"

#define REASON_UNKNOWN -1

/* Reasons that say no more than that a packet was freed: every socket that closes in good
 * order frees some so. Their numbers differ from kernel to kernel, and not all have them. */
enum skb_drop_reason___any {
	SKB_CONSUMED___any,
	SKB_DROP_REASON_NOT_SPECIFIED___any,
	SKB_DROP_REASON_QUEUE_PURGE___any,
};

#define IS_REASON(reason, name)                                                              \
	(bpf_core_enum_value_exists(enum skb_drop_reason___any, name##___any) &&                 \
	 (reason) == bpf_core_enum_value(enum skb_drop_reason___any, name##___any))

static __always_inline bool ordinary(s32 reason)
{
	return IS_REASON(reason, SKB_DROP_REASON_QUEUE_PURGE) || IS_REASON(reason, SKB_DROP_REASON_NOT_SPECIFIED) ||
	       IS_REASON(reason, SKB_CONSUMED);
}

static __always_inline int skb_drop(void *ctx, struct sk_buff *skb, u64 location, s32 reason, struct sock *rx_sk)
{
	struct sock *sk = rx_sk ?: skb->sk;
	u32 netns = skb_netns(skb, sk);
	struct headers h = {};
	struct skb_drop *r;

	share_ends(skb, true, !shown_ends); /* drops are recorded whether or not their packet is */
	read_headers(&h, network_header(skb), bpf_ntohs(skb->protocol));
	if (!want_headers(&h) || !want_skb_but(skb, sk, netns))
		return 0;
	r = BEGIN_FLOOD(skb_drop, full_sock(sk), skb, netns);
	if (!r)
		return 0;
	r->location = location;
	__builtin_memcpy(r->saddr, h.saddr, 16);
	__builtin_memcpy(r->daddr, h.daddr, 16);
	r->sport = h.sport;
	r->dport = h.dport;
	r->pkt_fam = h.family;
	r->ethertype = bpf_ntohs(skb->protocol);
	r->drop_reason = reason;
	r->len_bytes = skb->len;
	r->protocol = h.proto;
	r->tcp_flags = h.flags;
	r->state = sk ? READ(sk, __sk_common.skc_state) : 0;
	r->kstack[0] = 0;
	if (!ordinary(reason) || stack_due(STACK_DROP, r->h.ts_ns))
		FILL_STACK(r->kstack, 0);
	SUBMIT(r);
	return 0;
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(skb_drop_tp4, struct sk_buff *skb, void *location, int reason, struct sock *rx_sk)
{
	first_run(EV_skb_drop, (u64)skb);
	return skb_drop(ctx, skb, (u64)location, reason, rx_sk);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(skb_drop_tp4_again, struct sk_buff *skb, void *location, int reason, struct sock *rx_sk)
{
	return missed_first(EV_skb_drop, (u64)skb) ? skb_drop(ctx, skb, (u64)location, reason, rx_sk) : 0;
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(skb_drop_tp3, struct sk_buff *skb, void *location, int reason)
{
	first_run(EV_skb_drop, (u64)skb);
	return skb_drop(ctx, skb, (u64)location, reason, 0);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(skb_drop_tp3_again, struct sk_buff *skb, void *location, int reason)
{
	return missed_first(EV_skb_drop, (u64)skb) ? skb_drop(ctx, skb, (u64)location, reason, 0) : 0;
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(skb_drop_tp2, struct sk_buff *skb, void *location)
{
	first_run(EV_skb_drop, (u64)skb);
	return skb_drop(ctx, skb, (u64)location, REASON_UNKNOWN, 0);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(skb_drop_tp2_again, struct sk_buff *skb, void *location)
{
	return missed_first(EV_skb_drop, (u64)skb) ? skb_drop(ctx, skb, (u64)location, REASON_UNKNOWN, 0) : 0;
}
