//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "irq.h"

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_entry_tp, unsigned int vector)
{
	return irq_begin(SLOT_SOFTIRQ, vector);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_exit_tp, unsigned int vector)
{
	u64 began = irq_began(SLOT_SOFTIRQ, vector);
	struct softirq *r;

	if (!began)
		return 0;
	r = BEGIN(softirq, 0, 0, 0);
	if (!r)
		return 0;
	r->dur_ns = r->h.ts_ns - began;
	r->vector = vector;
	SUBMIT(r);
	return 0;
}
