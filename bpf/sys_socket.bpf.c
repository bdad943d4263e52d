//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "fd.h"
#include "connects.h"

#define SOCK_TYPE_MASK 0xf /* the rest of the type argument is flags */

static __always_inline int socket_enter(struct trace_event_raw_sys_enter *ctx, u64 stored)
{
	struct call call = {};

	if (!want_task())
		return 0;
	call.arg[0] = (u64)(u32)ctx->args[0] << 32 | (u32)ctx->args[1];
	call.arg[1] = ctx->args[2];
	call.arg[2] = stored; /* where socketpair puts the descriptors */
	return call_start(EV_sys_socket, &call);
}

SEC("tp/syscalls/sys_enter_socket")
int sys_socket_enter(struct trace_event_raw_sys_enter *ctx)
{
	return socket_enter(ctx, 0);
}

SEC("tp/syscalls/sys_enter_socketpair")
int sys_socketpair_enter(struct trace_event_raw_sys_enter *ctx)
{
	return socket_enter(ctx, ctx->args[3]);
}

static __always_inline void socket_done(struct call *call, s64 ret, const u8 func)
{
	u32 domain = call->arg[0] >> 32, type = (u32)call->arg[0], netns;
	s32 fds[2] = {-1, -1};
	struct sys_socket *r;
	struct sock *sk;

	if (func == FUNC_SOCKET && ret >= 0) {
		fds[0] = ret;
		unsettle(ret);
	} else if (func == FUNC_SOCKETPAIR && !ret) {
		bpf_probe_read_user(fds, sizeof(fds), (void *)call->arg[2]);
	}
	sk = fd_sock(fds[0]);
	netns = fd_netns(sk);
	if (!want_fd(sk, netns))
		return;
	r = BEGIN(sys_socket, sk, 0, netns);
	if (!r)
		return;
	r->dur_ns = r->h.ts_ns - call->ts;
	r->ret = ret;
	r->peer_sock = (u64)fd_sock(fds[1]);
	r->fd = fds[0];
	r->fd2 = fds[1];
	r->flags = type & ~SOCK_TYPE_MASK;
	r->family = domain > 0xffff ? 0xffff : domain;
	r->sock_type = type & SOCK_TYPE_MASK;
	r->protocol = call->arg[1];
	r->func = func;
	SUBMIT(r);
}

static __always_inline int socket_exit(struct trace_event_raw_sys_exit *ctx, const u8 func)
{
	struct call *call = call_of(EV_sys_socket);

	if (!call)
		return 0;
	socket_done(call, ctx->ret, func);
	call_end(EV_sys_socket);
	return 0;
}

SEC("tp/syscalls/sys_exit_socket")
int sys_socket_exit(struct trace_event_raw_sys_exit *ctx)
{
	return socket_exit(ctx, FUNC_SOCKET);
}

SEC("tp/syscalls/sys_exit_socketpair")
int sys_socketpair_exit(struct trace_event_raw_sys_exit *ctx)
{
	return socket_exit(ctx, FUNC_SOCKETPAIR);
}
