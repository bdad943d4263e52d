//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "netrec.h"

static __always_inline int accept_enter(struct trace_event_raw_sys_enter *ctx, u32 flags)
{
	struct call call = {};

	if (!want_task())
		return 0;
	call.arg[0] = ctx->args[0];
	call.arg[1] = ctx->args[1];
	call.arg[2] = flags;
	return call_start(EV_sys_accept, &call);
}

SEC("tp/syscalls/sys_enter_accept")
int sys_accept_enter(struct trace_event_raw_sys_enter *ctx)
{
	return accept_enter(ctx, 0);
}

SEC("tp/syscalls/sys_enter_accept4")
int sys_accept4_enter(struct trace_event_raw_sys_enter *ctx)
{
	return accept_enter(ctx, ctx->args[3]);
}

static __always_inline int accept_done(struct call *call, s64 ret, const u8 func)
{
	struct sock *listener = fd_sock(call->arg[0]);
	struct sock *sk = ret >= 0 ? fd_sock(ret) : 0;
	struct sock *any = sk ?: listener;
	u32 netns = any ? sock_netns(any, false) : task_netns();
	struct sys_accept *r;

	if (any ? !want_sock(any, netns) : !want_call(netns))
		return 0;
	r = BEGIN(sys_accept, sk, 0, netns);
	if (!r)
		return 0;
	__builtin_memset(&r->tuple, 0, sizeof(r->tuple));
	if (any)
		fill_tuple(&r->tuple, any, false);
	r->cookie = sk ? cookie(sk, false) : 0;
	r->dur_ns = r->h.ts_ns - call->ts;
	r->ret = ret;
	r->listener = (u64)listener;
	__builtin_memset(r->peer_addr, 0, sizeof(r->peer_addr));
	r->peer_port = 0;
	r->peer_fam = 0;
	if (ret >= 0)
		user_addr((void *)call->arg[1], r->peer_addr, &r->peer_port, &r->peer_fam);
	r->fd = call->arg[0];
	r->flags = call->arg[2];
	r->peer_buf = call->arg[1] != 0;
	r->func = func;
	r->sock_type = any ? BPF_CORE_READ(any, sk_type) : 0;
	r->protocol = any ? BPF_CORE_READ(any, sk_protocol) : NO_PROTOCOL;
	SUBMIT(r);
	return 0;
}

static __always_inline int accept_exit(struct trace_event_raw_sys_exit *ctx, const u8 func)
{
	struct call *call = call_of(EV_sys_accept);

	if (!call)
		return 0;
	accept_done(call, ctx->ret, func);
	call_end(EV_sys_accept);
	return 0;
}

SEC("tp/syscalls/sys_exit_accept")
int sys_accept_exit(struct trace_event_raw_sys_exit *ctx)
{
	return accept_exit(ctx, FUNC_ACCEPT);
}

SEC("tp/syscalls/sys_exit_accept4")
int sys_accept4_exit(struct trace_event_raw_sys_exit *ctx)
{
	return accept_exit(ctx, FUNC_ACCEPT4);
}
