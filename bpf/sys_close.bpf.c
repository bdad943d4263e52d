//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "netrec.h"

/* A socket is looked up before the call; after it the descriptor is gone. The
 * address pair is kept too, because the socket may be gone as well. */
struct closing {
	struct tuple tuple;
	s64 cookie;
	u32 netns;
};

_Static_assert(sizeof(struct closing) <= sizeof(((struct call *)0)->bytes), "struct call holds struct closing");

static __always_inline bool close_wanted(struct sock *sk, u32 netns)
{
	if (sk)
		return want_sock(sk, netns, false);
	return !cfg_port && want_task() && (!cfg_netns || netns == cfg_netns);
}

static __always_inline int close_enter(struct sock *sk, u32 first, u32 last)
{
	struct call call = {};
	struct closing *c = (void *)call.bytes;

	c->netns = sk ? sock_netns(sk, false) : task_netns();
	if (!close_wanted(sk, c->netns))
		return 0;
	call.arg[0] = (u64)sk;
	call.arg[1] = first;
	call.arg[2] = last;
	if (sk) {
		fill_tuple(&c->tuple, sk, false);
		c->cookie = cookie(sk, false);
	}
	return call_start(EV_sys_close, &call);
}

SEC("tp/syscalls/sys_enter_close")
int sys_close_enter(struct trace_event_raw_sys_enter *ctx)
{
	int fd = ctx->args[0];
	struct sock *sk = fd_sock(fd);

	return sk ? close_enter(sk, fd, fd) : 0;
}

SEC("tp/syscalls/sys_enter_close_range")
int sys_close_range_enter(struct trace_event_raw_sys_enter *ctx)
{
	return close_enter(0, ctx->args[0], ctx->args[1]);
}

static __always_inline int close_exit(struct trace_event_raw_sys_exit *ctx, const u8 func)
{
	struct call *call = call_of(EV_sys_close);
	struct closing *c;
	struct sys_close *r;

	if (!call)
		return 0;
	c = (void *)call->bytes;
	r = BEGIN(sys_close, call->arg[0], 0, c->netns);
	if (r) {
		__builtin_memcpy(&r->tuple, &c->tuple, sizeof(r->tuple));
		r->cookie = c->cookie;
		r->dur_ns = r->h.ts_ns - call->ts;
		r->ret = ctx->ret;
		r->fd = call->arg[1];
		r->fd_last = call->arg[2];
		r->func = func;
		SUBMIT(r);
	}
	call_end(EV_sys_close);
	return 0;
}

SEC("tp/syscalls/sys_exit_close")
int sys_close_exit(struct trace_event_raw_sys_exit *ctx)
{
	return close_exit(ctx, FUNC_CLOSE);
}

SEC("tp/syscalls/sys_exit_close_range")
int sys_close_range_exit(struct trace_event_raw_sys_exit *ctx)
{
	return close_exit(ctx, FUNC_CLOSE_RANGE);
}
