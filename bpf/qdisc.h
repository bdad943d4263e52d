/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the events of queueing disciplines share. */
#ifndef NETREC_QDISC_H
#define NETREC_QDISC_H

#include "dev.h"

struct kind_key {
	u64 ops;
	u64 enqueue;
};

/* Kinds of disciplines whose functions have been seen at work, by the address of their
 * Qdisc_ops: the tracepoints would tell about them a second time. Linux has some forty. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, struct kind_key);
	__type(value, u8);
} qdisc_kinds SEC(".maps");

static __always_inline bool function_seen(const struct Qdisc_ops *ops, const bool enqueue)
{
	struct kind_key key = {(u64)ops, enqueue};

	return bpf_map_lookup_elem(&qdisc_kinds, &key);
}

static __always_inline void saw_function(const struct Qdisc_ops *ops, const bool enqueue)
{
	struct kind_key key = {(u64)ops, enqueue};
	u8 yes = 1;

	if (!bpf_map_lookup_elem(&qdisc_kinds, &key))
		bpf_map_update_elem(&qdisc_kinds, &key, &yes, BPF_ANY);
}

#define FILL_QDISC(r, q, d, skb) \
	do { \
		(r)->qdisc = (u64)(q); \
		fill16((r)->qdisc_kind, K(q, ops)->id, direct); \
		FILL_DEV(r, d); \
		(r)->qdisc_handle = K(q, handle); \
		(r)->qdisc_parent = K(q, parent); \
		(r)->qlen = K(q, q.qlen); \
		(r)->backlog_bytes = K(q, qstats.backlog); \
		(r)->len_bytes = K(skb, len); \
	} while (0)

#endif
