/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Counters of functions and tracepoints. The recorder makes rows of them. */
#ifndef NETREC_COUNT_H
#define NETREC_COUNT_H

#include "netrec.h"

const volatile u32 cfg_count_slots = 0; /* for each CPU; one for each place that is counted */

/* The loader gives it the right size. An array that is mapped into the recorder's memory
 * needs no privilege to read, which one of the kind per CPU would. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} counts SEC(".maps");

static __always_inline int count_hit(u32 slot)
{
	u32 at = bpf_get_smp_processor_id() * cfg_count_slots + slot;
	u64 *n;

	if (!recording)
		return 0;
	n = bpf_map_lookup_elem(&counts, &at);
	if (n)
		add_one(n);
	return 0;
}

#endif
