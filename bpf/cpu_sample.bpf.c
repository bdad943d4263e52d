//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "netrec.h"

/* The timer's interrupt is on top of what is sampled; the row tells the context below it. */
SEC("perf_event")
int cpu_sample_perf(void *ctx)
{
	u32 netns = task_netns();
	struct cpu_sample *r;
	s64 n;

	if (!want_call(netns))
		return 0;
	r = BEGIN(cpu_sample, 0, 0, netns);
	if (!r)
		return 0;
	r->h.ctx = context_below();
	n = bpf_get_stack(ctx, r->kstack, sizeof(r->kstack) - 8, 0);
	if (n < 0)
		n = 0;
	r->kstack[(n >> 3) & 63] = 0;
	n = bpf_get_stack(ctx, r->ustack, sizeof(r->ustack) - 8, BPF_F_USER_STACK);
	if (n < 0)
		n = 0;
	r->ustack[(n >> 3) & 63] = 0;
	SUBMIT(r);
	return 0;
}
