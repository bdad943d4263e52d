//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "fd.h"

/* A socket is looked up before the call; after it the descriptor is gone. The
 * address pair is kept too, because the socket may be gone as well. */
struct closing {
	struct tuple tuple;
	s64 cookie;
	u32 netns;
};

_Static_assert(sizeof(struct closing) <= sizeof(((struct call *)0)->bytes), "struct call holds struct closing");

static __always_inline int close_enter(struct sock *sk, u32 first, u32 last)
{
	struct call call = {};
	struct closing *c = (void *)call.bytes;

	c->netns = fd_netns(sk);
	if (!want_fd(sk, c->netns))
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
	/* Where a dup is refused, the descriptor that was to be replaced stays open. */
	if ((func == FUNC_DUP2 || func == FUNC_DUP3) && ctx->ret < 0) {
		call_end(EV_sys_close);
		return 0;
	}
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

static __always_inline int dup_over(int from, int to)
{
	struct sock *sk = from == to ? 0 : fd_sock(to);

	return sk ? close_enter(sk, to, to) : 0;
}

SEC("tp/syscalls/sys_enter_dup2")
int sys_close_dup2_enter(struct trace_event_raw_sys_enter *ctx)
{
	return dup_over(ctx->args[0], ctx->args[1]);
}

SEC("tp/syscalls/sys_enter_dup3")
int sys_close_dup3_enter(struct trace_event_raw_sys_enter *ctx)
{
	return dup_over(ctx->args[0], ctx->args[1]);
}

SEC("tp/syscalls/sys_exit_dup2")
int sys_close_dup2_exit(struct trace_event_raw_sys_exit *ctx)
{
	return close_exit(ctx, FUNC_DUP2);
}

SEC("tp/syscalls/sys_exit_dup3")
int sys_close_dup3_exit(struct trace_event_raw_sys_exit *ctx)
{
	return close_exit(ctx, FUNC_DUP3);
}

/* The last thread of a process gives all descriptors back; one row stands for them. */
static __always_inline int process_exit(struct task_struct *t)
{
	u32 netns = task_netns();
	struct sys_close *r;

	if (t->flags & PF_KTHREAD || !want_fd(0, netns))
		return 0;
	r = BEGIN(sys_close, 0, 0, netns);
	if (!r)
		return 0;
	__builtin_memset(&r->tuple, 0, sizeof(r->tuple));
	r->cookie = 0;
	r->dur_ns = 0;
	r->ret = 0;
	r->fd = 0;
	r->fd_last = 0x7fffffff;
	r->func = FUNC_EXIT;
	SUBMIT(r);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(sys_close_exit_tp2, struct task_struct *t, bool group_dead)
{
	return group_dead ? process_exit(t) : 0;
}

/* Before 6.16 the tracepoint does not say whether the thread was the last. When the last
 * two end at once, each may see that none is left, and there are two rows. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(sys_close_exit_tp, struct task_struct *t)
{
	return t->signal->live.counter ? 0 : process_exit(t);
}
