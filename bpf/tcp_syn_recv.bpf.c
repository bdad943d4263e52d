//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "packet.h"

/* IPv6 listeners hand IPv4 connections on to the IPv4 function, which is then left out. */
static __always_inline bool handed_on(struct sock *sk, const u8 func)
{
	return func == FUNC_TCP_V4_SYN_RECV_SOCK && READ(sk, __sk_common.skc_family) == AF_INET6;
}

static __always_inline int tcp_syn_recv(struct sock *sk, struct sk_buff *skb, struct sock *child, u8 func)
{
	u32 netns = sock_netns(sk, false);
	struct tcp_syn_recv *r;
	TUPLE(t);

	packet_tuple(&t, skb);
	if (!want_tcp(&t, sk, netns))
		return 0;
	r = BEGIN(tcp_syn_recv, child, skb, netns);
	if (!r)
		return 0;
	r->tuple = t;
	r->listener = (u64)sk;
	r->sk_ack_backlog = READ(sk, sk_ack_backlog);
	r->sk_max_ack_backlog = READ(sk, sk_max_ack_backlog);
	r->func = func;
	SUBMIT(r);
	return 0;
}

static __always_inline int syn_recv_exit(u64 *ctx, const int args, const u8 func)
{
	struct sock *sk = (void *)raw_arg(ctx, 0);

	if (handed_on(sk, func))
		return 0;
	return tcp_syn_recv(sk, (void *)raw_arg(ctx, 1), (void *)raw_arg(ctx, args), func);
}

SEC("fexit/tcp_v4_syn_recv_sock")
int tcp_syn_recv4_fexit6(u64 *ctx)
{
	return syn_recv_exit(ctx, 6, FUNC_TCP_V4_SYN_RECV_SOCK);
}

SEC("fexit/tcp_v6_syn_recv_sock")
int tcp_syn_recv6_fexit6(u64 *ctx)
{
	return syn_recv_exit(ctx, 6, FUNC_TCP_V6_SYN_RECV_SOCK);
}

SEC("fexit/tcp_v4_syn_recv_sock")
int tcp_syn_recv4_fexit7(u64 *ctx)
{
	return syn_recv_exit(ctx, 7, FUNC_TCP_V4_SYN_RECV_SOCK);
}

SEC("fexit/tcp_v6_syn_recv_sock")
int tcp_syn_recv6_fexit7(u64 *ctx)
{
	return syn_recv_exit(ctx, 7, FUNC_TCP_V6_SYN_RECV_SOCK);
}

/* Trampolines for seven arguments came with 6.7, the seventh argument to some kernels
 * before. There the new socket is seen where it is copied from the listener. */
SEC("fexit/tcp_create_openreq_child")
int tcp_syn_recv_child_fexit(u64 *ctx)
{
	struct sock *sk = (void *)raw_arg(ctx, 0), *child = (void *)raw_arg(ctx, 3);
	bool v6 = READ(sk, __sk_common.skc_family) == AF_INET6;

	if (!child)
		return 0;
	return tcp_syn_recv(sk, (void *)raw_arg(ctx, 2), child, v6 ? FUNC_TCP_V6_SYN_RECV_SOCK : FUNC_TCP_V4_SYN_RECV_SOCK);
}

static __always_inline int syn_recv_start(struct sock *sk, struct sk_buff *skb, const u8 func)
{
	struct call call = {};

	if (handed_on(sk, func))
		return 0;
	call.arg[0] = (u64)sk;
	call.arg[1] = (u64)skb;
	call.arg[2] = func;
	return call_start(EV_tcp_syn_recv, &call);
}

/* Before 6.7 the kernel passes a kprobe over, and does not count it, when it interrupts
 * a probe of a system call; so where there is another way, only failures are left to it. */
static __always_inline int syn_recv_end(u64 child, const u8 func, const bool failures)
{
	struct call *call = call_of(EV_tcp_syn_recv);

	if (!call || call->arg[2] != func)
		return 0;
	if (!failures || !child)
		tcp_syn_recv((void *)call->arg[0], (void *)call->arg[1], (void *)child, func);
	call_end(EV_tcp_syn_recv);
	return 0;
}

SEC("kprobe/tcp_v4_syn_recv_sock")
int BPF_KPROBE(tcp_syn_recv4_kprobe, struct sock *sk, struct sk_buff *skb)
{
	return syn_recv_start(sk, skb, FUNC_TCP_V4_SYN_RECV_SOCK);
}

SEC("kretprobe/tcp_v4_syn_recv_sock")
int BPF_KRETPROBE(tcp_syn_recv4_kretprobe, u64 child)
{
	return syn_recv_end(child, FUNC_TCP_V4_SYN_RECV_SOCK, false);
}

SEC("kprobe/tcp_v6_syn_recv_sock")
int BPF_KPROBE(tcp_syn_recv6_kprobe, struct sock *sk, struct sk_buff *skb)
{
	return syn_recv_start(sk, skb, FUNC_TCP_V6_SYN_RECV_SOCK);
}

SEC("kretprobe/tcp_v6_syn_recv_sock")
int BPF_KRETPROBE(tcp_syn_recv6_kretprobe, u64 child)
{
	return syn_recv_end(child, FUNC_TCP_V6_SYN_RECV_SOCK, false);
}

SEC("kretprobe/tcp_v4_syn_recv_sock")
int BPF_KRETPROBE(tcp_syn_recv4_failed, u64 child)
{
	return syn_recv_end(child, FUNC_TCP_V4_SYN_RECV_SOCK, true);
}

SEC("kretprobe/tcp_v6_syn_recv_sock")
int BPF_KRETPROBE(tcp_syn_recv6_failed, u64 child)
{
	return syn_recv_end(child, FUNC_TCP_V6_SYN_RECV_SOCK, true);
}
