//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "netrec.h"

/* The address is copied before the call: the caller may reuse its buffer. */
SEC("tp/syscalls/sys_enter_connect")
int sys_connect_enter(struct trace_event_raw_sys_enter *ctx)
{
	struct call call = {};

	if (!want_task())
		return 0;
	call.arg[0] = ctx->args[0];
	user_addr((void *)ctx->args[1], call.addr, &call.port, &call.family);
	return call_start(EV_sys_connect, &call);
}

static __always_inline int connect_exit(void *ctx, struct call *call, s64 ret)
{
	struct sock *sk = fd_sock(call->arg[0]);
	u32 netns = sk ? sock_netns(sk, false) : task_netns();
	struct sys_connect *r;

	if (sk ? !want_peer(sk, netns, call->addr, call->port, call->family) : !want_call(netns))
		return 0;
	r = BEGIN(sys_connect, sk, 0, netns);
	if (!r)
		return 0;
	r->cookie = sk ? cookie(sk, false) : 0;
	r->dur_ns = r->h.ts_ns - call->ts;
	r->ret = ret;
	__builtin_memcpy(r->dest_addr, call->addr, sizeof(r->dest_addr));
	r->dest_port = call->port;
	r->family = call->family;
	r->sock_type = sk ? BPF_CORE_READ(sk, sk_type) : 0;
	r->protocol = sk ? BPF_CORE_READ(sk, sk_protocol) : 0;
	r->fd = call->arg[0];
	FILL_STACK(r->ustack, BPF_F_USER_STACK);
	SUBMIT_STACK(r);
	return 0;
}

SEC("tp/syscalls/sys_exit_connect")
int sys_connect_exit(struct trace_event_raw_sys_exit *ctx)
{
	struct call *call = call_of(EV_sys_connect);

	if (!call)
		return 0;
	connect_exit(ctx, call, ctx->ret);
	call_end(EV_sys_connect);
	return 0;
}
