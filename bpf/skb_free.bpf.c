//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "skb.h"

/* Which packet is inside pskb_expand_head, per kind of context. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CTX_UNKNOWN + 1);
	__type(key, u32);
	__type(value, u64);
} expanding SEC(".maps");

static __always_inline u64 *expanding_here(void)
{
	u32 ctx = context();

	return bpf_map_lookup_elem(&expanding, &ctx);
}

SEC("fentry/pskb_expand_head")
int BPF_PROG(skb_free_expand_in, struct sk_buff *skb)
{
	u64 *here = expanding_here();

	if (here)
		*here = (u64)skb;
	return 0;
}

SEC("fexit/pskb_expand_head")
int BPF_PROG(skb_free_expand_out)
{
	u64 *here = expanding_here();

	if (here)
		*here = 0;
	return 0;
}

static __always_inline int skb_free(struct sk_buff *skb, const u8 func, s32 reason)
{
	struct sock *sk = skb->sk;
	u32 netns = skb_netns(skb, sk);
	struct skb_free *r;

	sk = full_sock(sk);
	if (sk ? !want_sock(sk, netns, false) : !want_netns(netns) || cfg_port)
		return 0;
	r = BEGIN(skb_free, sk, skb, netns);
	if (!r)
		return 0;
	r->drop_reason = reason;
	r->func = func;
	r->cloned = BPF_CORE_READ_BITFIELD(skb, cloned);
	SUBMIT(r);
	return 0;
}

static __always_inline int released(struct sk_buff *skb, s32 reason)
{
	u64 *here = expanding_here();

	if (here && *here == (u64)skb)
		return 0; /* it gets new data and lives on */
	return skb_free(skb, FUNC_SKB_RELEASE_DATA, reason);
}

SEC("fentry/skb_release_data")
int BPF_PROG(skb_free_fentry2, struct sk_buff *skb, int reason)
{
	return released(skb, reason);
}

SEC("fentry/skb_release_data")
int BPF_PROG(skb_free_fentry1, struct sk_buff *skb)
{
	return released(skb, -1);
}

/* Where the data went into another packet, only the sk_buff itself is freed. */
SEC("fentry/kfree_skb_partial")
int BPF_PROG(skb_free_partial, struct sk_buff *skb, bool head_stolen)
{
	return head_stolen ? skb_free(skb, FUNC_KFREE_SKB_PARTIAL, -1) : 0;
}

SEC("fentry/napi_skb_free_stolen_head")
int BPF_PROG(skb_free_stolen, struct sk_buff *skb)
{
	return skb_free(skb, FUNC_NAPI_SKB_FREE_STOLEN_HEAD, -1);
}
