//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "packet.h"

/* A packet of the largest size has 45 segments of Ethernet; of larger ones the first
 * are recorded, and nth shows that there were more. */
#define MAX_SEGMENTS 64

static __always_inline bool derive_wanted(struct sk_buff *skb, u32 *netns)
{
	struct sock *sk = skb->sk;

	*netns = skb_netns(skb, sk);
	return want_skb(skb, sk, *netns);
}

static __always_inline void derive(struct sk_buff *parent, struct sk_buff *child, u32 netns, const u8 kind, bool ok, u16 nth)
{
	struct skb_derive *r = BEGIN(skb_derive, full_sock(parent->sk), child, netns);

	if (!r)
		return;
	r->parent_skb = (u64)parent;
	r->len_bytes = child ? READ(child, len) : 0;
	r->nth = nth;
	r->derive_kind = kind;
	r->ok = ok;
	SUBMIT(r);
}

/* A function that is verified once and not once a turn of the loop, which is too much for
 * 6.1; such functions get numbers only. */
__attribute__((noinline)) int derive_one(u64 parent, u64 segment, u32 netns, u16 nth)
{
	struct sk_buff *skb = (void *)parent;
	struct skb_derive *r = BEGIN(skb_derive, full_sock(READ(skb, sk)), segment, netns);

	if (!r)
		return 0;
	r->parent_skb = parent;
	r->len_bytes = READ((struct sk_buff *)segment, len);
	r->nth = nth;
	r->derive_kind = DERIVE_KIND_SEGMENT;
	r->ok = true;
	SUBMIT(r);
	return 0;
}

SEC("fexit/skb_clone")
int BPF_PROG(skb_derive_clone, struct sk_buff *skb, unsigned int gfp, struct sk_buff *clone)
{
	u32 netns;

	if (share_made(skb, clone, true) && derive_wanted(skb, &netns))
		derive(skb, clone, netns, DERIVE_KIND_CLONE, clone, -1);
	return 0;
}

SEC("fexit/skb_copy")
int BPF_PROG(skb_derive_copy, struct sk_buff *skb, unsigned int gfp, struct sk_buff *copy)
{
	u32 netns;

	if (share_made(skb, copy, true) && derive_wanted(skb, &netns))
		derive(skb, copy, netns, DERIVE_KIND_COPY, copy, -1);
	return 0;
}

#define IS_ERR(p) ((u64)(p) >= (u64)-4095)

SEC("fexit/skb_segment")
int BPF_PROG(skb_derive_segment, struct sk_buff *skb, u64 features, struct sk_buff *segs)
{
	bool in = share_at(0, skb, true), wanted;
	u64 args[3], base; /* the same as numbers */
	u32 netns = 0;

	wanted = in && derive_wanted(skb, &netns);
	if (!segs || IS_ERR(segs)) {
		if (wanted)
			derive(skb, 0, netns, DERIVE_KIND_SEGMENT, false, -1);
		return 0;
	}
	if (!cfg_share && !wanted)
		return 0;
	base = cfg_share ? as_number(drawn) : 0;
	bpf_probe_read_kernel(args, sizeof(args), ctx);
	for (u16 i = 0; i < MAX_SEGMENTS && args[2]; i++) {
		if (cfg_share) /* each was drawn when it was allocated */
			share_lot(name_from(base, args[2]), in);
		if (wanted)
			derive_one(args[0], args[2], netns, i);
		args[2] = (u64)BPF_CORE_READ((struct sk_buff *)args[2], next);
	}
	return 0;
}

SEC("fexit/skb_gro_receive")
int BPF_PROG(skb_derive_gro, struct sk_buff *p, struct sk_buff *skb, int ret)
{
	u32 netns;

	if (share_at(0, skb, true) && derive_wanted(skb, &netns))
		derive(p, skb, netns, DERIVE_KIND_GRO, ret == 0, -1);
	return 0;
}

SEC("fexit/skb_try_coalesce")
int BPF_PROG(skb_derive_coalesce, struct sk_buff *to, struct sk_buff *from, bool *stolen, int *delta, u64 ret)
{
	u32 netns;

	if (share_at(0, from, true) && derive_wanted(to, &netns))
		derive(to, from, netns, DERIVE_KIND_COALESCE, is_true(ret), -1);
	return 0;
}
