/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Every difference between kernels that the probes must bridge, each with what
 * changed, since when, and the accessor that hides it. Test for the thing
 * (bpf_core_field_exists, an argument count in the ladder), not for a version.
 */
#ifndef NETREC_COMPAT_H
#define NETREC_COMPAT_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_endian.h>

/* A cast that tells the verifier what a number points to (6.2): fields are then read by plain
 * loads, in programs of every kind. What lies there may be anything by now, and a load from
 * nowhere gives 0, as the helper for such reads does at twenty times the cost. */
extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym __weak;

const volatile bool cfg_cast = false;

#define TYPED(p) ((typeof(&*(p)))bpf_rdonly_cast(p, bpf_core_type_id_kernel(typeof(*(p)))))

/* READ is BPF_CORE_READ by the cheaper way where there is one. A pointer that it gives has a type, too: where
 * a number is wanted, for arithmetic or a function of its own, BPF_CORE_READ gives one. */
#define READ(p, ...) (cfg_cast ? TYPED(p)->READ_PATH(__VA_ARGS__) : BPF_CORE_READ(p, __VA_ARGS__))
#define READ_PATH(...) ___apply(READ_PATH, ___narg(__VA_ARGS__))(__VA_ARGS__)
#define READ_PATH1(a) a
#define READ_PATH2(a, b) a->b
#define READ_PATH3(a, b, c) a->b->c

/* K reads a field through a kernel pointer. In programs whose arguments the
 * verifier knows by type (tp_btf, fentry, fexit) a plain load will do, which costs
 * about a nanosecond; elsewhere it takes a helper call. Functions that read get
 * the answer as a parameter called direct, a constant after inlining. */
#define K(p, field) (direct ? (p)->field : READ(p, field))

/* icsk_ca_state is a bit field whose byte moved several times. */
static __always_inline u8 ca_state(struct tcp_sock *tp, const bool direct)
{
	struct inet_connection_sock *icsk = &tp->inet_conn;

	return direct ? BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state) : BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_state);
}

/* The bit of sk_flags that only TCP sets, when the peer's FIN has come. It is number one in
 * enum sock_flags since 2.6. */
#define SOCK_DONE 1

static __always_inline bool peer_finished(struct sock *sk, const bool direct)
{
	return K(sk, __sk_common.skc_flags) >> SOCK_DONE & 1;
}

/* Options of inet_sock were bit fields up to 6.5 and are bits of inet_flags since. The
 * kernel's enum of these bits has no name by which their numbers could be asked for; they
 * have not moved since. */
#define INET_FREEBIND (1ul << 11)
#define INET_TRANSPARENT (1ul << 15)
#define INET_BIND_ADDRESS_NO_PORT (1ul << 18)

struct inet_sock___fields {
	u8 freebind : 1;
	u8 transparent : 1;
	u8 bind_address_no_port : 1;
} __attribute__((preserve_access_index));

struct inet_sock___flags {
	unsigned long inet_flags;
} __attribute__((preserve_access_index));

static __always_inline unsigned long inet_flags(struct sock *sk)
{
	struct inet_sock___flags *now = (void *)sk;
	struct inet_sock___fields *before = (void *)sk;

	if (bpf_core_field_exists(now->inet_flags))
		return READ(now, inet_flags);
	return (BPF_CORE_READ_BITFIELD_PROBED(before, freebind) ? INET_FREEBIND : 0) |
	       (BPF_CORE_READ_BITFIELD_PROBED(before, transparent) ? INET_TRANSPARENT : 0) |
	       (BPF_CORE_READ_BITFIELD_PROBED(before, bind_address_no_port) ? INET_BIND_ADDRESS_NO_PORT : 0);
}

/* A struct sock is the start of a struct tcp_sock, but the verifier only lets
 * typed pointers grow through this helper (5.9). */
static __always_inline struct tcp_sock *tcp_sk(struct sock *sk, const bool direct)
{
	return direct ? (struct tcp_sock *)bpf_skc_to_tcp_sock(sk) : (struct tcp_sock *)sk;
}

/* The helper that finds the registers of a task's system call came with 5.15. Before,
 * they lie at the very end of the stack, whose size is fixed; later kernels may leave
 * room behind them. */
const volatile bool cfg_task_regs = false;

/* The cgroup of a socket, 0 for the root. Before 5.15 the pointer shared its place with
 * numbers for cgroup v1, which have a bit that no pointer has. */
static __always_inline u64 sock_cgroup(struct sock *sk)
{
	u64 cgroup = 0;

	if (bpf_core_field_exists(sk->sk_cgrp_data))
		bpf_probe_read_kernel(&cgroup, sizeof(cgroup), __builtin_preserve_access_index(&sk->sk_cgrp_data));
	return cgroup & 3 ? 0 : cgroup;
}

/* The preemption count tells task from interrupt. Up to 6.1 and from 6.15 on it is
 * the per-CPU variable __preempt_count, between them a field of pcpu_hot. The
 * loader puts the variable's BTF id in place of this constant and the offset of
 * the count in it into cfg_preempt_off. That needs the variable in kallsyms;
 * without CONFIG_KALLSYMS_ALL the way leads from the running task to its CPU's
 * run queue, and from there by the distance of the two variables. The address
 * found is kept, one for each CPU, in a map that only probes can write. */
#define PREEMPT_PLACEHOLDER "0x6e65747265637063"

const volatile s32 cfg_preempt_off = -1;
const volatile s64 cfg_preempt_rq = 0;

#define SOFTIRQ_SERVING 0x00000100
#define HARDIRQ_ONE 0x00010000
#define HARDIRQ_MASK 0x000f0000
#define NMI_MASK 0x00f00000

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} preempt_at SEC(".maps");

static __always_inline u32 count_by_run_queue(void)
{
	u32 zero = 0, count = 0;
	u64 *at = bpf_map_lookup_elem(&preempt_at, &zero);

	if (!at)
		return 0;
	if (!*at) {
		struct task_struct *t = (void *)bpf_get_current_task();
		u64 rq = (u64)BPF_CORE_READ(t, se.cfs_rq, rq);

		if (!rq)
			return 0;
		*at = rq + cfg_preempt_rq;
	}
	bpf_probe_read_kernel(&count, sizeof(count), (void *)*at);
	return count;
}

/* preempt_count is false where the kernel hides it. */
#if defined(__TARGET_ARCH_arm64)
static __always_inline bool preempt_count(u32 *count)
{
	struct task_struct___arm64 *t = (void *)bpf_get_current_task();

	*count = READ(t, thread_info.preempt_count);
	return true;
}
#else
static __always_inline bool preempt_count(u32 *count)
{
	char *p;

	*count = 0;
	if (cfg_preempt_off >= 0) {
		asm volatile("%0 = " PREEMPT_PLACEHOLDER " ll" : "=r"(p));
		p = bpf_this_cpu_ptr(p);
		*count = *(u32 *)(p + cfg_preempt_off);
	} else if (cfg_preempt_rq) {
		*count = count_by_run_queue();
	} else {
		return false;
	}
	return true;
}
#endif

static __always_inline u8 context_of(u32 count)
{
	if (count & NMI_MASK)
		return CTX_NMI;
	if (count & HARDIRQ_MASK)
		return CTX_HARDIRQ;
	return count & SOFTIRQ_SERVING ? CTX_SOFTIRQ : CTX_TASK;
}

static __always_inline u8 context(void)
{
	u32 count;

	return preempt_count(&count) ? context_of(count) : CTX_UNKNOWN;
}

/* context_below is what the interrupt that runs now has interrupted. */
static __always_inline u8 context_below(void)
{
	u32 count;

	if (!preempt_count(&count))
		return CTX_UNKNOWN;
	return context_of(count & HARDIRQ_MASK ? count - HARDIRQ_ONE : count);
}

/* The high bits of a product with it are a hash. */
#define GOLDEN 0x9e3779b97f4a7c15ull

/* Atomic fetch-and-add came with 5.12. On older kernels the loader turns the
 * first instruction into a plain atomic add and the second into a load, which
 * gives the same number unless an interrupt's event falls between the two: then
 * two rows of a CPU share a number. Losses are counted apart and stay exact. */
static __always_inline u64 add_and_next(u64 *counter, u64 n)
{
	register u64 *p asm("r1") = counter;
	register u64 v asm("r2") = n;

	/* r2 = atomic_fetch_add((u64 *)(r1 + 0), r2), which clang 14 cannot spell */
	asm volatile(".byte 0xdb, 0x21, 0, 0, 1, 0, 0, 0\n\t"
		     "r2 += 1"
		     : "+r"(v)
		     : "r"(p)
		     : "memory");
	return v;
}

static __always_inline u64 next(u64 *counter)
{
	return add_and_next(counter, 1);
}

/* less comes after all stores before it, for every CPU, which an addition without fetch does
 * not promise. */
static __always_inline void less(u64 *counter)
{
	add_and_next(counter, -1);
}

/* A bool fills only the lowest byte of its register or of a result; what is above it is
 * whatever the compiler left there. Programs take it as u64 and ask here. */
static __always_inline bool is_true(u64 b)
{
	return (u8)b;
}

/* fexit_caller is where the function will return to. The kernel has no helper for it, but
 * trampolines for programs at the end of a function keep it at one place above the
 * arguments and the result. */
#if defined(__TARGET_ARCH_arm64)
/* Two saved registers, perhaps a gap, and two frames of a frame pointer and an address: the
 * function's own, then this. 0 where that is not what lies there. */
static __always_inline u64 fexit_caller(const void *ctx, const int args, u64 lo, u64 hi)
{
	u64 at[4] = {};

	bpf_probe_read_kernel(at, sizeof(at), (const u64 *)ctx + args + 4);
	if (at[0] >= lo && at[0] < hi)
		return at[2];
	return at[1] >= lo && at[1] < hi ? at[3] : 0;
}
#else
/* The caller's frame pointer, and this. Up to 6.18 the function calls its trampoline, and an
 * address of its own comes first; by 7.2 it jumps there. */
static __always_inline u64 fexit_caller(const void *ctx, const int args, u64 lo, u64 hi)
{
	u64 at[2] = {};

	bpf_probe_read_kernel(at, sizeof(at), (const u64 *)ctx + args + 2);
	return at[0] >= lo && at[0] < hi ? at[1] : at[0];
}
#endif

/* Which library a probe is in comes with its attachment as a cookie (5.15). For older
 * kernels the loader makes a copy of the program per library and puts the library in
 * place of this constant. */
#define LIBRARY_PLACEHOLDER "0x6e65747265636c62"

const volatile bool cfg_cookies = false;

static __always_inline u32 library(void *ctx)
{
	u64 lib;

	if (cfg_cookies)
		return bpf_get_attach_cookie(ctx);
	asm volatile("%0 = " LIBRARY_PLACEHOLDER " ll" : "=r"(lib));
	return lib;
}

#endif
