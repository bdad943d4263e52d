/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* When the softirq and the interrupt that a CPU is handling began. Neither nests with
 * its own kind, so a CPU needs one slot for each. */
#ifndef NETREC_IRQ_H
#define NETREC_IRQ_H

#include "share.h"

enum { SLOT_SOFTIRQ, SLOT_IRQ, SLOTS };

struct irq_start {
	u64 ts; /* 0: none under way */
	u64 number;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, u32);
	__type(value, struct irq_start);
} irq_starts SEC(".maps");

static __always_inline int irq_begin(u32 slot, u64 number)
{
	struct irq_start *s;

	if (!share_time())
		return 0;
	s = bpf_map_lookup_elem(&irq_starts, &slot);
	if (s) {
		s->ts = bpf_ktime_get_ns();
		s->number = number;
	}
	return 0;
}

/* irq_began is when what ends now began, 0 if that was before the recording. */
static __always_inline u64 irq_began(u32 slot, u64 number)
{
	struct irq_start *s = bpf_map_lookup_elem(&irq_starts, &slot);
	u64 ts;

	if (!s || s->number != number)
		return 0;
	ts = s->ts;
	s->ts = 0;
	return ts;
}

#endif
