/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Second chances. The kernel does not run a tracing program on a CPU that is already inside it: an
 * interrupt's event is passed over when it comes while the same program handles a
 * task's. The kernel counts that (recursion_misses) and so does the account, but for
 * rare events, whose absence would spoil a whole story, a second program is attached
 * behind the first. Each run of the first leaves a mark; where the second finds none,
 * the first was passed over, and the second takes the event.
 *
 * A mark belongs to the CPU and to the context: nothing else of that context runs there between
 * the two programs. From 7.0 on a task may be moved to another CPU there, or another one may run, so
 * that a task leaves a mark by its number as well.
 */
#ifndef NETREC_AGAIN_H
#define NETREC_AGAIN_H

#include "netrec.h"

const volatile bool cfg_tasks_move = false; /* between two programs of a tracepoint */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, EV_MAX *(CTX_UNKNOWN + 1));
	__type(key, u32);
	__type(value, u64);
} marks SEC(".maps");

/* Threads whose numbers end alike share a mark. */
#define MARKED_THREADS 256

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, EV_MAX *MARKED_THREADS);
	__type(key, u32);
	__type(value, u64);
} thread_marks SEC(".maps");

static __always_inline u64 *cpu_mark(const u16 ev, u8 ctx)
{
	u32 key = ev * (CTX_UNKNOWN + 1) + ctx;

	return bpf_map_lookup_elem(&marks, &key);
}

/* thread_mark is 0 where it is not needed. */
static __always_inline u64 *thread_mark(const u16 ev, u8 ctx)
{
	u32 key;

	if (!cfg_tasks_move || ctx != CTX_TASK)
		return 0;
	key = ev * MARKED_THREADS + ((u32)bpf_get_current_pid_tgid() & (MARKED_THREADS - 1));
	return bpf_map_lookup_elem(&thread_marks, &key);
}

static __always_inline void leave_mark(u64 *mark, u64 token)
{
	if (mark)
		*mark = token;
}

static __always_inline bool take_mark(u64 *mark, u64 token)
{
	if (!mark || *mark != token)
		return false;
	*mark = 0;
	return true;
}

/* first_run returns the context. */
static __always_inline u8 first_run(const u16 ev, u64 token)
{
	u8 ctx = context();

	leave_mark(cpu_mark(ev, ctx), token);
	leave_mark(thread_mark(ev, ctx), token);
	return ctx;
}

/* missed_first is true where the first program did not run for this event. */
static __always_inline bool missed_first(const u16 ev, u64 token)
{
	u8 ctx = context();
	bool here = take_mark(cpu_mark(ev, ctx), token), moved = take_mark(thread_mark(ev, ctx), token);
	struct cpu_counters *c;
	u32 cpu;

	if (here || moved)
		return false;
	c = my_counters(&cpu);
	if (c)
		add_one(&c->ev[ev].rescued);
	return true;
}

#endif
