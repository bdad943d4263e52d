//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "irq.h"

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_entry_tp, int irq)
{
	return irq_begin(SLOT_IRQ, irq);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_exit_tp, int irq, struct irqaction *action, int ret)
{
	u64 began = irq_began(SLOT_IRQ, irq);
	struct irq *r;

	if (!began)
		return 0;
	r = BEGIN(irq, 0, 0, 0);
	if (!r)
		return 0;
	r->dur_ns = r->h.ts_ns - began;
	r->irq = irq;
	r->irq_ret = ret;
	__builtin_memset(r->irq_name, 0, sizeof(r->irq_name));
	bpf_probe_read_kernel_str(r->irq_name, sizeof(r->irq_name), action->name);
	SUBMIT(r);
	return 0;
}
