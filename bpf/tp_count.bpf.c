//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "count.h"

/* The loader makes a program for each tracepoint and puts the slot in place of this
 * constant: a raw tracepoint does not say which it is before 6.10. */
#define SLOT_PLACEHOLDER "0x6e6574726563736c"

SEC("raw_tp")
int tp_count_tp(void *ctx)
{
	u64 slot;

	asm volatile("%0 = " SLOT_PLACEHOLDER " ll" : "=r"(slot));
	return count_hit(slot);
}
