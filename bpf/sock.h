/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What a socket and the running task say about themselves. */
#ifndef NETREC_SOCK_H
#define NETREC_SOCK_H

#include "kernel.h"
#include "events.gen.h"
#include "compat.h"

/* Addresses and names of rows lie where large numbers could. Behind a pointer to bytes the
 * compiler does not see that, and takes them byte by byte. */
static __always_inline void clear16(u8 *to)
{
	((u64 *)to)[0] = 0;
	((u64 *)to)[1] = 0;
}

static __always_inline void copy16(u8 *to, const void *from)
{
	((u64 *)to)[0] = ((const u64 *)from)[0];
	((u64 *)to)[1] = ((const u64 *)from)[1];
}

/* fill16 copies such a name or address from kernel memory. */
static __always_inline void fill16(u8 *to, const void *from, const bool direct)
{
	if (direct)
		copy16(to, from);
	else
		bpf_probe_read_kernel(to, 16, from);
}

static __always_inline u32 task_netns(void)
{
	struct task_struct *t = (void *)bpf_get_current_task();

	return READ(t, nsproxy, net_ns, ns.inum);
}

#define NO_UID ((u32)-1)
#define NO_PROTOCOL 0xffff /* 0 is one: the default of a family */

static __always_inline u32 task_uid(void)
{
	return (u32)bpf_get_current_uid_gid();
}

/* fill_task names the running task. A plain load of a field costs a tenth of the helper that
 * reads it; what follows the end of a name is of no account. */
static __always_inline void fill_task(struct header *h)
{
	struct task_struct *t;

	if (!cfg_task_regs) {
		h->cgroup = bpf_get_current_cgroup_id();
		bpf_get_current_comm(&h->comm, sizeof(h->comm));
		return;
	}
	t = (void *)bpf_get_current_task_btf();
	h->cgroup = t->cgroups->dfl_cgrp->kn->id;
	copy16(h->comm, t->comm);
}

static __always_inline u32 sock_netns(struct sock *sk, const bool direct)
{
	return direct ? sk->__sk_common.skc_net.net->ns.inum : READ(sk, __sk_common.skc_net.net, ns.inum);
}

/* inet_sport outlives skc_num, which is 0 again on the way to CLOSE. */
static __always_inline u16 local_port(struct sock *sk, const bool direct)
{
	u16 num = K(sk, __sk_common.skc_num);

	if (!num)
		num = bpf_ntohs(READ((struct inet_sock *)sk, inet_sport));
	return num;
}

static __always_inline bool is_inet(u16 family)
{
	return family == AF_INET || family == AF_INET6;
}

/* A packet may belong to a request or to a connection in TIME_WAIT, which are not
 * whole sockets; their address says nothing about a socket. */
static __always_inline struct sock *full_sock(struct sock *sk)
{
	u8 state = sk ? READ(sk, __sk_common.skc_state) : 0;

	return state == TCP_TIME_WAIT || state == TCP_NEW_SYN_RECV ? 0 : sk;
}

static __always_inline s64 cookie(struct sock *sk, const bool direct)
{
	return K(sk, __sk_common.skc_cookie.counter);
}

static __always_inline void fill_addr(u8 *dst, struct in6_addr *v6, const u32 v4, u16 family, const bool direct)
{
	if (family == AF_INET6) {
		fill16(dst, v6, direct);
		return;
	}
	clear16(dst);
	*(u32 *)dst = family == AF_INET ? v4 : 0;
}

static __always_inline void fill_tuple(struct tuple *t, struct sock *sk, const bool direct)
{
	u16 family = K(sk, __sk_common.skc_family);

	t->family = family;
	if (!is_inet(family)) {
		__builtin_memset(t, 0, sizeof(*t));
		t->family = family;
		return;
	}
	fill_addr(t->laddr, __builtin_preserve_access_index(&sk->__sk_common.skc_v6_rcv_saddr),
		  K(sk, __sk_common.skc_rcv_saddr), family, direct);
	fill_addr(t->raddr, __builtin_preserve_access_index(&sk->__sk_common.skc_v6_daddr),
		  K(sk, __sk_common.skc_daddr), family, direct);
	t->lport = local_port(sk, direct);
	t->rport = bpf_ntohs(K(sk, __sk_common.skc_dport));
}

/* progress_of is another number after each segment that changes positions. */
static __always_inline u64 progress_of(struct tcp_sock *tp, const bool direct)
{
	barrier(); /* neither before what is read above, nor with what was read there */
	return tp ? (u64)K(tp, snd_una) << 32 | K(tp, rcv_nxt) : 0;
}

/* The kernel counts what is acknowledged and what comes in order, each just before it moves the
 * sequence number. That is read last here, and returned. */
static __always_inline u64 fill_positions(struct positions *p, struct tcp_sock *tp, const bool direct)
{
	u32 acked, received, sent, written, copied;
	u64 progress;

	if (!tp) {
		p->out_bytes = p->in_bytes = -1;
		p->unsent_bytes = p->unacked_bytes = p->unread_bytes = -1;
		return 0;
	}
	acked = K(tp, bytes_acked);
	received = K(tp, bytes_received);
	sent = K(tp, snd_nxt);
	written = K(tp, write_seq);
	copied = K(tp, copied_seq);
	progress = progress_of(tp, direct);
	p->unacked_bytes = sent - (u32)(progress >> 32);
	p->out_bytes = acked + p->unacked_bytes;
	p->in_bytes = received;
	p->unsent_bytes = written - sent;
	p->unread_bytes = (u32)progress - copied;
	return progress;
}

#define POSITION_LOOKS 4

/* fill_unlocked is for a program that does not hold the socket; was is progress_of before the row's time was
 * taken. A segment that comes meanwhile, in an interrupt or on another CPU, would be in the positions before its
 * own row tells of it, or in a part of them. They are taken again then, with the time. */
static __always_inline void fill_unlocked(struct header *h, struct positions *p, struct tcp_sock *tp, u64 was,
					  const bool direct)
{
	for (int i = 0; i < POSITION_LOOKS; i++) {
		u64 now = fill_positions(p, tp, direct);

		if (now == was)
			return;
		was = now;
		h->ts_ns = bpf_ktime_get_ns();
	}
}

#endif
