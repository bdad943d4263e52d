//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "skb.h"

#define SKB_ALLOC_FCLONE 1

/* Which thread is inside __alloc_skb, per kind of context: from 6.1 to 6.18 it calls
 * __build_skb_around itself, and that birth is already counted. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CTX_UNKNOWN + 1);
	__type(key, u32);
	__type(value, u32);
} in_alloc SEC(".maps");

static __always_inline u32 *alloc_flag(void)
{
	u32 ctx = context();

	return bpf_map_lookup_elem(&in_alloc, &ctx);
}

static __always_inline struct skb_alloc *alloc_begin(void *skb, const u8 func)
{
	u32 netns = context() == CTX_TASK ? task_netns() : 0;
	struct skb_alloc *r;

	/* A packet just born belongs to nobody yet: a port or process cannot select it. */
	if (!want_netns(netns) || cfg_port || (cfg_pid && !want_task()))
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

SEC("fentry/__alloc_skb")
int BPF_PROG(skb_alloc_fentry)
{
	u32 *inside = alloc_flag();

	if (inside)
		*inside = (u32)bpf_get_current_pid_tgid() + 1;
	return 0;
}

SEC("fexit/__alloc_skb")
int BPF_PROG(skb_alloc_fexit, unsigned int size, unsigned int gfp, int flags, int node, struct sk_buff *skb)
{
	u32 *inside = alloc_flag();
	struct skb_alloc *r;

	if (inside)
		*inside = 0;
	if (!skb)
		return 0;
	r = alloc_begin(skb, FUNC___ALLOC_SKB);
	if (!r)
		return 0;
	r->alloc_bytes = size;
	r->fclone = flags & SKB_ALLOC_FCLONE;
	SUBMIT(r);
	return 0;
}

SEC("fentry/__build_skb_around")
int BPF_PROG(skb_alloc_build, struct sk_buff *skb, void *data, unsigned int frag_size)
{
	u32 *inside = alloc_flag();
	struct skb_alloc *r;

	if (inside && *inside == (u32)bpf_get_current_pid_tgid() + 1)
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

	if (call_site < cfg_callsite_lo || call_site >= cfg_callsite_hi || !ptr)
		return 0;
	r = alloc_begin(ptr, FUNC_KMEM_CACHE_ALLOC);
	if (!r)
		return 0;
	bpf_probe_read_kernel_str(r->cache, sizeof(r->cache), s->name);
	SUBMIT(r);
	return 0;
}
