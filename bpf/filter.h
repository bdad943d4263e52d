/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What filters compare; want.h and packet.h ask them about rows. docs/filters.md says it in
 * words; what a filter is called and how its values are written is record/filter's.
 *
 * Filters come in two kinds. Who did it (pid, comm, uid, cgroup): in the context of a
 * task the task answers, on top of one the socket does, as far as it knows; what nobody
 * answers for is kept. What it was about (port, address, protocol, TCP state): a row
 * that has no such thing is not wanted.
 */
#ifndef NETREC_FILTER_H
#define NETREC_FILTER_H

#include "sock.h"

#define FILTER_VALUES 8 /* of one filter; one of them is enough */
#define CGROUP_DEPTH 32

struct pattern {
	u64 value[2];
	u64 mask[2];
};

/* Set by the loader before the programs are verified. The verifier then removes the
 * filters that are not in use, whose bit here is 0: what is left of all of them is three
 * or four loads of this word. */
const volatile u32 cfg_filters = 0;

enum {
	BY_WHO = 1,    /* pid, comm, uid, cgroup */
	BY_END = 2,    /* port, addr */
	BY_SAMPLE = 4,
	BY_PROTO = 8,
	BY_STATE = 16,
	BY_DEV = 32,
};

#define FILTER_WHO (cfg_filters & BY_WHO)
#define FILTER_ENDS (cfg_filters & (BY_END | BY_SAMPLE))
#define FILTER_HEADERS (cfg_filters & (BY_END | BY_SAMPLE | BY_PROTO))
#define FILTER_WHAT (cfg_filters & (BY_END | BY_PROTO | BY_STATE)) /* rows without it are not wanted */
#define FILTER_PROTO (cfg_filters & BY_PROTO)
#define FILTER_STATE (cfg_filters & BY_STATE)
#define FILTER_DEV (cfg_filters & BY_DEV)
#define FILTER_SOCK (cfg_filters & (BY_END | BY_SAMPLE | BY_PROTO | BY_STATE | BY_DEV))

#define FILTER(type, name)                        \
	const volatile u32 cfg_##name##_count = 0; \
	const volatile type cfg_##name[FILTER_VALUES] = {}

/* tgids of the recorder and of the processes that work for it, whose own calls are left out */
const volatile u32 cfg_self = 0, cfg_reader = 0, cfg_keeper = 0;
const volatile u32 cfg_netns = 0; /* the first of several; one is what most recordings have */
FILTER(u32, netns_more);
FILTER(u32, pid);
FILTER(struct pattern, comm);
FILTER(u32, uid);
FILTER(u64, cgroup);
FILTER(u32, port);
FILTER(struct pattern, addr); /* IPv4 as ::ffff:a.b.c.d */
FILTER(u32, proto);
FILTER(u32, dev);
const volatile u32 cfg_states = 0;    /* bits */
const volatile u64 cfg_sample = 0;    /* keep connections whose hash is below */
const volatile u64 cfg_sample_seed = 0;

/* With a budget the recorder thins hot events while it records: it sets how often their share
 * is halved, of connections (budget.h) and of what is drawn (share.h). */
const volatile bool cfg_budget = false;
volatile u32 conns_halved = 0;
volatile u32 draws_halved = 0;

/* What filters need when they are in use is in functions of their own, whose calls the
 * verifier removes; inline it would make the object half as large again. They are global
 * and take numbers only, so that each is verified by itself: until 6.4 the verifier loses
 * track of what the caller of a static function knows, takes branches behind the call for
 * dead and removes them. */
#define FILTER_FN __attribute__((noinline)) int

/* as_number makes a number of a pointer whose type the verifier knows; it does not let such
 * pointers pass for numbers otherwise. */
static __always_inline u64 as_number(const void *p)
{
	u64 n = 0;

	bpf_probe_read_kernel(&n, sizeof(n), &p);
	return n;
}

static __always_inline bool among(const volatile u32 *list, u32 count, u32 value)
{
	for (u32 i = 0; i < FILTER_VALUES && i < count; i++)
		if (list[i] == value)
			return true;
	return false;
}

static __always_inline bool matches(const volatile struct pattern *list, u32 count, u64 first, u64 second)
{
	for (u32 i = 0; i < FILTER_VALUES && i < count; i++)
		if (!((first ^ list[i].value[0]) & list[i].mask[0]) && !((second ^ list[i].value[1]) & list[i].mask[1]))
			return true;
	return false;
}

#define AMONG(name, v) among(cfg_##name, cfg_##name##_count, v)
#define MATCHES(name, first, second) matches(cfg_##name, cfg_##name##_count, first, second)

/* --- who --- */

/* in_cgroup looks for the group itself and the groups it is in. */
FILTER_FN in_cgroup(u64 group)
{
	struct cgroup *cg = (void *)group;

	for (int i = 0; i < CGROUP_DEPTH && cg; i++) {
		u64 id = READ(cg, kn, id);

		for (u32 j = 0; j < FILTER_VALUES && j < cfg_cgroup_count; j++)
			if (cfg_cgroup[j] == id)
				return true;
		cg = READ(cg, self.parent, cgroup);
	}
	return false;
}

FILTER_FN task_wanted(void)
{
	struct task_struct *t = (void *)bpf_get_current_task();
	u64 comm[2] = {};

	if (cfg_pid_count && !AMONG(pid, bpf_get_current_pid_tgid() >> 32))
		return false;
	if (cfg_uid_count && !AMONG(uid, (u32)bpf_get_current_uid_gid()))
		return false;
	if (cfg_comm_count) {
		bpf_get_current_comm(comm, sizeof(comm));
		if (!MATCHES(comm, comm[0], comm[1]))
			return false;
	}
	return !cfg_cgroup_count || in_cgroup((u64)BPF_CORE_READ(t, cgroups, dfl_cgrp));
}

/* want_task judges by the task that runs: only where it is known to be the one that
 * made the row happen. */
static __always_inline bool want_task(void)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if ((cfg_self && tgid == cfg_self) || (cfg_reader && tgid == cfg_reader) || (cfg_keeper && tgid == cfg_keeper))
		return false;
	return !FILTER_WHO || task_wanted();
}

/* owner_wanted judges by the one who has the socket. Requests have a listener, and nothing
 * is known of connections in TIME_WAIT. */
FILTER_FN owner_wanted(u64 sock)
{
	struct sock *sk = (void *)sock;
	u8 state = sk ? READ(sk, __sk_common.skc_state) : TCP_TIME_WAIT;

	if (state == TCP_NEW_SYN_RECV)
		sk = READ(sk, __sk_common.skc_listener);
	if (state == TCP_TIME_WAIT || !sk)
		return true;
	if (cfg_uid_count && !AMONG(uid, READ(sk, sk_uid.val)))
		return false;
	return !cfg_cgroup_count || in_cgroup(sock_cgroup(sk));
}

/* A kernel thread works for others: it receives packets in place of an interrupt, or
 * ends what a process left behind. */
FILTER_FN who_wanted(u64 sock)
{
	struct task_struct *t = (void *)bpf_get_current_task();

	if (context() == CTX_TASK && !(READ(t, flags) & PF_KTHREAD))
		return want_task();
	return owner_wanted(sock);
}

/* want_who takes the socket that a row is about, whole or not, or 0. */
static __always_inline bool want_who(const void *sk)
{
	return FILTER_WHO ? who_wanted(as_number(sk)) : want_task() || context() != CTX_TASK;
}

/* --- what --- */

FILTER_FN netns_wanted(u32 netns)
{
	return AMONG(netns_more, netns);
}

static __always_inline bool want_netns(u32 netns)
{
	return !cfg_netns || netns == cfg_netns || (cfg_netns_more_count && netns_wanted(netns));
}

FILTER_FN dev_wanted(u32 ifindex)
{
	return AMONG(dev, ifindex);
}

/* want_dev leaves out what is known to be about another device. */
static __always_inline bool want_dev(u32 ifindex)
{
	return !FILTER_DEV || !ifindex || dev_wanted(ifindex);
}

FILTER_FN proto_wanted(u32 proto)
{
	return AMONG(proto, proto);
}

static __always_inline bool want_proto(u16 family, u32 proto)
{
	return !FILTER_PROTO || (is_inet(family) && proto_wanted(proto));
}

/* Only TCP has these states; other protocols use the field for themselves. */
static __always_inline bool want_states(u16 family, u16 proto, u32 states)
{
	return !FILTER_STATE || (is_inet(family) && proto == IPPROTO_TCP && cfg_states & states);
}

static __always_inline u64 mix(u64 h)
{
	h = (h ^ h >> 32) * GOLDEN;
	h = (h ^ h >> 29) * 0xd6e8feb86659fd93ull;
	return h ^ h >> 32;
}

static __always_inline u64 end_hash(const u64 *addr, u16 port)
{
	return mix(mix(mix(cfg_sample_seed ^ addr[0]) ^ addr[1]) ^ port);
}

#define ALL_HASHES (1ull << 32)

/* conn_hash is below ALL_HASHES, and the same whichever end comes first. */
static __always_inline u64 conn_hash(const u64 *a, u16 aport, const u64 *b, u16 bport)
{
	return mix(end_hash(a, aport) + end_hash(b, bport)) >> 32;
}

/* An address as two numbers, the same for IPv4 and for its form in IPv6. */
static __always_inline void addr_key(u64 *key, u64 first, u64 second, u16 family)
{
	if (family == AF_INET) {
		key[0] = 0;
		key[1] = 0xffff00000000ull | bpf_be64_to_cpu(first) >> 32;
	} else {
		key[0] = bpf_be64_to_cpu(first);
		key[1] = bpf_be64_to_cpu(second);
	}
}

#define ENDS(aport, bport, family) ((u64)(aport) << 32 | (u64)(bport) << 16 | (family))

/* ends_wanted judges by the addresses and ports of the two ends, in any order, so that the
 * sample is the same on both. What has only one end is no connection and not sampled. */
FILTER_FN ends_wanted(u64 a0, u64 a1, u64 b0, u64 b1, u64 ends)
{
	u16 aport = ends >> 32, bport = ends >> 16, family = ends;
	u64 x[2], y[2];

	if (!is_inet(family))
		return !(cfg_filters & BY_END);
	if (cfg_port_count && !AMONG(port, aport) && !AMONG(port, bport))
		return false;
	if (!cfg_addr_count && !(cfg_filters & BY_SAMPLE))
		return true;
	addr_key(x, a0, a1, family);
	addr_key(y, b0, b1, family);
	if (cfg_addr_count && !MATCHES(addr, x[0], x[1]) && !MATCHES(addr, y[0], y[1]))
		return false;
	if (!(cfg_filters & BY_SAMPLE) || !aport || !bport)
		return true;
	return conn_hash(x, aport, y, bport) < cfg_sample;
}

/* want_ends takes addresses that are aligned as numbers are. */
static __always_inline bool want_ends(const u8 *a, const u8 *b, u16 aport, u16 bport, u16 family)
{
	const u64 *x = (const u64 *)a, *y = (const u64 *)b;

	return !FILTER_ENDS || ends_wanted(x[0], x[1], y[0], y[1], ENDS(aport, bport, family));
}

/* A tuple on the stack that want_tuple may read, and that may be copied whole: old
 * verifiers want every byte of it written. */
#define TUPLE(t) struct tuple t = {}

static __always_inline bool want_tuple(struct tuple *t)
{
	return want_ends(t->laddr, t->raddr, t->lport, t->rport, t->family);
}

#endif
