//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "skb.h"

#define SKB_ALLOC_FCLONE 1

SITE(__alloc_skb);
SITE(__build_skb_around);

static __always_inline struct skb_alloc *alloc_begin(void *skb, const u8 func)
{
	u32 netns = context() == CTX_TASK ? task_netns() : 0;
	struct skb_alloc *r;

	/* A packet just born belongs to nobody yet, and nothing in it can select it. */
	if (FILTER_WHAT || !want_netns(netns) || !want_who(0))
		return 0;
	r = BEGIN(skb_alloc, 0, skb, netns);
	if (!r)
		return 0;
	r->alloc_bytes = -1;
	r->func = func;
	r->fclone = 0xff;
	__builtin_memset(r->cache, 0, sizeof(r->cache));
	return r;
}

SEC("fexit/__alloc_skb")
int BPF_PROG(skb_alloc_fexit, unsigned int size, unsigned int gfp, int flags, int node, struct sk_buff *skb)
{
	struct skb_alloc *r;

	if (!skb || !share_born(skb, true))
		return 0;
	r = alloc_begin(skb, FUNC___ALLOC_SKB);
	if (!r)
		return 0;
	r->alloc_bytes = size;
	r->fclone = flags & SKB_ALLOC_FCLONE;
	SUBMIT(r);
	return 0;
}

/* From 6.1 to 6.18 __alloc_skb calls this itself, and that birth is told when it returns. */
SEC("fexit/__build_skb_around")
int BPF_PROG(skb_alloc_build, struct sk_buff *skb, void *data, unsigned int frag_size)
{
	struct skb_alloc *r;

	if (!share_born(skb, true) || within(site___alloc_skb, CALLER(ctx, 3, __build_skb_around)))
		return 0;
	r = alloc_begin(skb, FUNC___BUILD_SKB_AROUND);
	if (!r)
		return 0;
	r->alloc_bytes = frag_size;
	SUBMIT(r);
	return 0;
}

/* Without trampolines: slab allocations made from within __alloc_skb. Packets whose
 * heads come from the NAPI cache are not seen. */
SEC("tp_btf/kmem_cache_alloc")
int BPF_PROG(skb_alloc_slab, unsigned long call_site, void *ptr, struct kmem_cache *s)
{
	struct skb_alloc *r;

	if (!within(site___alloc_skb, call_site) || !ptr || !share_born(ptr, false))
		return 0;
	r = alloc_begin(ptr, FUNC_KMEM_CACHE_ALLOC);
	if (!r)
		return 0;
	bpf_probe_read_kernel_str(r->cache, sizeof(r->cache), s->name);
	SUBMIT(r);
	return 0;
}
