//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "packet.h"

SITE(skb_release_data);

/* These give a packet other data and let go of the old: it lives on. */
SITE(pskb_expand_head);
SITE(skb_morph);
SITE(pskb_carve_inside_header);
SITE(pskb_carve_inside_nonlinear);

static __always_inline bool lives_on(u64 caller)
{
	return within(site_pskb_expand_head, caller) || within(site_skb_morph, caller) ||
	       within(site_pskb_carve_inside_header, caller) || within(site_pskb_carve_inside_nonlinear, caller);
}

static __always_inline int skb_free(struct sk_buff *skb, const u8 func, s32 reason)
{
	struct skb_free *r;
	struct sock *sk;
	u32 netns;

	if (!share_ends(skb, true, true))
		return 0;
	sk = skb->sk;
	netns = skb_netns(skb, sk);
	if (!want_skb(skb, sk, netns))
		return 0;
	sk = full_sock(sk);
	r = BEGIN(skb_free, sk, skb, netns);
	if (!r)
		return 0;
	r->drop_reason = reason;
	r->func = func;
	r->cloned = BPF_CORE_READ_BITFIELD(skb, cloned);
	SUBMIT(r);
	return 0;
}

SEC("fexit/skb_release_data")
int BPF_PROG(skb_free_fexit2, struct sk_buff *skb, int reason)
{
	return lives_on(CALLER(ctx, 2, skb_release_data)) ? 0 : skb_free(skb, FUNC_SKB_RELEASE_DATA, reason);
}

SEC("fexit/skb_release_data")
int BPF_PROG(skb_free_fexit1, struct sk_buff *skb)
{
	return lives_on(CALLER(ctx, 1, skb_release_data)) ? 0 : skb_free(skb, FUNC_SKB_RELEASE_DATA, -1);
}

/* Where the data went into another packet, only the sk_buff itself is freed. */
SEC("fentry/kfree_skb_partial")
int BPF_PROG(skb_free_partial, struct sk_buff *skb, u64 head_stolen)
{
	return is_true(head_stolen) ? skb_free(skb, FUNC_KFREE_SKB_PARTIAL, -1) : 0;
}

SEC("fentry/napi_skb_free_stolen_head")
int BPF_PROG(skb_free_stolen, struct sk_buff *skb)
{
	return skb_free(skb, FUNC_NAPI_SKB_FREE_STOLEN_HEAD, -1);
}
