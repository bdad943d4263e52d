//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "packet.h"

/* The child was copied from the listener when the handshake ended, its backlog fields
 * with it; the listener's own are those of now. */
static __always_inline int tcp_accept_fn(struct sock *sk, struct sock *child, const int *err)
{
	u32 netns = sock_netns(sk, false);
	struct tcp_accept_fn *r;
	int ret = 0;

	if (!want_sock(child ?: sk, netns))
		return 0;
	r = BEGIN(tcp_accept_fn, child, 0, netns);
	if (!r)
		return 0;
	if (child) {
		fill_tuple(&r->tuple, child, false);
		r->cookie = cookie(child, false);
		r->child_ack_backlog = READ(child, sk_ack_backlog);
		r->child_max_ack_backlog = READ(child, sk_max_ack_backlog);
	} else {
		__builtin_memset(&r->tuple, 0, sizeof(r->tuple));
		r->cookie = 0;
		r->child_ack_backlog = r->child_max_ack_backlog = -1;
		bpf_probe_read_kernel(&ret, sizeof(ret), err);
	}
	r->listener = (u64)sk;
	r->ret = ret;
	r->sk_ack_backlog = READ(sk, sk_ack_backlog);
	r->sk_max_ack_backlog = READ(sk, sk_max_ack_backlog);
	SUBMIT(r);
	return 0;
}

/* From 6.10 on the error is in a structure of arguments. */
static __always_inline const int *accept_err(u64 arg)
{
	return __builtin_preserve_access_index(&((struct proto_accept_arg *)arg)->err);
}

SEC("fexit/inet_csk_accept")
int tcp_accept_fn_fexit4(u64 *ctx)
{
	return tcp_accept_fn((void *)raw_arg(ctx, 0), (void *)raw_arg(ctx, 4), (void *)raw_arg(ctx, 2));
}

SEC("fexit/inet_csk_accept")
int tcp_accept_fn_fexit2(u64 *ctx)
{
	return tcp_accept_fn((void *)raw_arg(ctx, 0), (void *)raw_arg(ctx, 2), accept_err(raw_arg(ctx, 1)));
}

SEC("kprobe/inet_csk_accept")
int BPF_KPROBE(tcp_accept_fn_kprobe, struct sock *sk, u64 second, u64 third)
{
	struct call call = {};

	call.arg[0] = (u64)sk;
	call.arg[1] = bpf_core_type_exists(struct proto_accept_arg) ? (u64)accept_err(second) : third;
	return call_start(EV_tcp_accept_fn, &call);
}

SEC("kretprobe/inet_csk_accept")
int BPF_KRETPROBE(tcp_accept_fn_kretprobe, u64 child)
{
	struct call *call = call_of(EV_tcp_accept_fn);

	if (!call)
		return 0;
	tcp_accept_fn((void *)call->arg[0], (void *)child, (void *)call->arg[1]);
	call_end(EV_tcp_accept_fn);
	return 0;
}
