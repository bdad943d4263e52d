//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "fd.h"
#include "connects.h"

#define EPOLL_CTL_DEL 2
#define EPOLL_CREATE 4 /* ours */

SEC("tp/syscalls/sys_enter_epoll_ctl")
int sys_epoll_ctl_enter(struct trace_event_raw_sys_enter *ctx)
{
	struct call call = {};
	struct epoll_event *ev = (void *)call.bytes;

	/* What is put into an instance before or while it connects, and until it is used, is always
	 * told; of the rest, also of a process that connects all the time, the share. */
	if (!want_task() || (!share_time() && !may_connect(ctx->args[2])))
		return 0;
	call.arg[0] = ctx->args[0];
	call.arg[1] = ctx->args[1];
	call.arg[2] = ctx->args[2];
	if (call.arg[1] != EPOLL_CTL_DEL)
		bpf_probe_read_user(ev, sizeof(*ev), (void *)ctx->args[3]);
	return call_start(EV_sys_epoll_ctl, &call);
}

static __always_inline void epoll_ctl_exit(struct call *call, s64 ret)
{
	struct epoll_event *ev = (void *)call->bytes;
	struct sock *sk = fd_sock(call->arg[2]);
	u32 netns = fd_netns(sk);
	struct sys_epoll_ctl *r;

	if (!want_fd(sk, netns))
		return;
	r = BEGIN(sys_epoll_ctl, sk, 0, netns);
	if (!r)
		return;
	r->cookie = sk ? cookie(sk, false) : 0;
	r->dur_ns = r->h.ts_ns - call->ts;
	r->ret = ret;
	r->epoll_data = ev->data;
	r->epoll_events = ev->events;
	r->epfd = call->arg[0];
	r->epoll_op = call->arg[1];
	r->fd = call->arg[2];
	SUBMIT(r);
}

SEC("tp/syscalls/sys_exit_epoll_ctl")
int sys_epoll_ctl_exit(struct trace_event_raw_sys_exit *ctx)
{
	struct call *call = call_of(EV_sys_epoll_ctl);

	if (!call)
		return 0;
	epoll_ctl_exit(call, ctx->ret);
	call_end(EV_sys_epoll_ctl);
	return 0;
}

static __always_inline int epoll_created(s64 ret)
{
	u32 netns = task_netns();
	struct sys_epoll_ctl *r;

	if (ret < 0 || !want_call(netns))
		return 0;
	r = BEGIN(sys_epoll_ctl, 0, 0, netns);
	if (!r)
		return 0;
	r->cookie = 0;
	r->dur_ns = 0;
	r->ret = 0;
	r->epoll_data = 0;
	r->epoll_events = 0;
	r->epfd = ret;
	r->epoll_op = EPOLL_CREATE;
	r->fd = UNKNOWN32;
	SUBMIT(r);
	return 0;
}

SEC("tp/syscalls/sys_exit_epoll_create")
int sys_epoll_create_exit(struct trace_event_raw_sys_exit *ctx)
{
	return epoll_created(ctx->ret);
}

SEC("tp/syscalls/sys_exit_epoll_create1")
int sys_epoll_create1_exit(struct trace_event_raw_sys_exit *ctx)
{
	return epoll_created(ctx->ret);
}
