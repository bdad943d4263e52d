//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "count.h"

/* Slots by address, for kernels that cannot hand one over with the attachment. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u32);
} count_slots SEC(".maps");

SEC("kprobe.multi")
int func_count_multi(struct pt_regs *ctx)
{
	return count_hit(bpf_get_attach_cookie(ctx));
}

SEC("kprobe")
int func_count_kprobe(struct pt_regs *ctx)
{
	u64 address;
	u32 *slot;

	if (cfg_cookies)
		return count_hit(bpf_get_attach_cookie(ctx));
	address = PT_REGS_IP(ctx) - PAST_BREAKPOINT;
	slot = bpf_map_lookup_elem(&count_slots, &address);
	return slot ? count_hit(*slot) : 0;
}
