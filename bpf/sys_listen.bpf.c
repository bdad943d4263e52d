//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "fd.h"

SEC("tp/syscalls/sys_enter_listen")
int sys_listen_enter(struct trace_event_raw_sys_enter *ctx)
{
	struct call call = {};

	if (!want_task())
		return 0;
	call.arg[0] = ctx->args[0];
	call.arg[1] = ctx->args[1];
	return call_start(EV_sys_listen, &call);
}

static __always_inline void listen_exit(struct call *call, s64 ret)
{
	struct sock *sk = fd_sock(call->arg[0]);
	u32 netns = fd_netns(sk);
	struct sys_listen *r;

	if (!want_fd(sk, netns))
		return;
	r = BEGIN(sys_listen, sk, 0, netns);
	if (!r)
		return;
	__builtin_memset(&r->tuple, 0, sizeof(r->tuple));
	if (sk)
		fill_tuple(&r->tuple, sk, false);
	r->cookie = sk ? cookie(sk, false) : 0;
	r->dur_ns = r->h.ts_ns - call->ts;
	r->ret = ret;
	r->backlog = call->arg[1];
	r->sk_max_ack_backlog = sk ? READ(sk, sk_max_ack_backlog) : 0;
	r->fd = call->arg[0];
	r->sock_type = sk ? READ(sk, sk_type) : 0;
	r->protocol = sk ? READ(sk, sk_protocol) : 0;
	SUBMIT(r);
}

SEC("tp/syscalls/sys_exit_listen")
int sys_listen_exit(struct trace_event_raw_sys_exit *ctx)
{
	struct call *call = call_of(EV_sys_listen);

	if (!call)
		return 0;
	listen_exit(call, ctx->ret);
	call_end(EV_sys_listen);
	return 0;
}
