//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "netrec.h"

/* The timer's interrupt is on top of what is sampled; the row tells the context below it. */
SEC("perf_event")
int cpu_sample_perf(void *ctx)
{
	u32 netns = task_netns();
	struct cpu_sample *r;

	if (!want_call(netns))
		return 0;
	r = BEGIN(cpu_sample, 0, 0, netns);
	if (!r)
		return 0;
	r->h.ctx = context_below();
	FILL_STACK(r->kstack, 0);
	FILL_STACK(r->ustack, BPF_F_USER_STACK);
	SUBMIT(r);
	return 0;
}
