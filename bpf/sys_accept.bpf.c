//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "door.h"
#include "fd.h"

/* What a row of an accept is made of. */
struct accepting {
	u64 start; /* 0 if it began before the recording did */
	u64 peer;  /* where the caller wants the peer's address */
	s64 ret;
	s32 fd;
	u32 flags;
	struct sock *listener;
	struct sock *sk; /* accepted, or 0 */
};

static __always_inline int accept_enter(s32 fd, u64 peer, u32 flags)
{
	struct call call = {};

	if (!want_task() || !want_place(fd))
		return 0;
	call.arg[0] = fd;
	call.arg[1] = peer;
	call.arg[2] = flags;
	return call_start(EV_sys_accept, &call);
}

SEC("tp/syscalls/sys_enter_accept")
int sys_accept_enter(struct trace_event_raw_sys_enter *ctx)
{
	return accept_enter(ctx->args[0], ctx->args[1], 0);
}

SEC("tp/syscalls/sys_enter_accept4")
int sys_accept4_enter(struct trace_event_raw_sys_enter *ctx)
{
	return accept_enter(ctx->args[0], ctx->args[1], ctx->args[3]);
}

static __always_inline int accept_done(struct accepting *a, const u8 func, const u8 from)
{
	struct sock *any = a->sk ?: a->listener;
	u32 netns = any ? sock_netns(any, false) : task_netns();
	struct sys_accept *r;

	if (any ? !want_sock(any, netns) : !want_call(netns))
		return 0;
	r = BEGIN(sys_accept, a->sk, 0, netns);
	if (!r)
		return 0;
	name_worker(&r->h, from);
	__builtin_memset(&r->tuple, 0, sizeof(r->tuple));
	if (any)
		fill_tuple(&r->tuple, any, false);
	r->cookie = a->sk ? cookie(a->sk, false) : 0;
	r->dur_ns = a->start ? r->h.ts_ns - a->start : 0;
	r->ret = a->ret;
	r->listener = (u64)a->listener;
	__builtin_memset(r->peer_addr, 0, sizeof(r->peer_addr));
	r->peer_port = 0;
	r->peer_fam = 0;
	if (a->sk)
		user_addr((void *)a->peer, r->peer_addr, &r->peer_port, &r->peer_fam);
	r->fd = a->fd;
	r->flags = a->flags;
	r->peer_buf = a->peer != 0;
	r->func = func;
	r->door = from;
	r->sock_type = any ? READ(any, sk_type) : 0;
	r->protocol = any ? READ(any, sk_protocol) : NO_PROTOCOL;
	SUBMIT(r);
	return 0;
}

static __always_inline void accept_socks(struct accepting *a)
{
	a->listener = fd_sock(a->fd);
	a->sk = a->ret >= 0 ? fd_sock(a->ret) : 0;
}

/* A call that began before the recording did is known by its registers. */
static __always_inline int accept_exit(s64 ret, const u8 func)
{
	struct call *call = call_of(EV_sys_accept);
	struct accepting a = {.ret = ret};
	struct pt_regs *regs;

	if (call) {
		a.start = call->ts;
		a.fd = call->arg[0];
		a.peer = call->arg[1];
		a.flags = call->arg[2];
	} else {
		if (!want_task())
			return 0;
		regs = task_regs();
		a.fd = CALL_ARG1(regs);
		a.peer = CALL_ARG2(regs);
		if (func == FUNC_ACCEPT4)
			a.flags = CALL_ARG4(regs);
	}
	accept_socks(&a);
	accept_done(&a, func, DOOR_SYSCALL);
	if (call)
		call_end(EV_sys_accept);
	return 0;
}

SEC("tp/syscalls/sys_exit_accept")
int sys_accept_exit(struct trace_event_raw_sys_exit *ctx)
{
	return accept_exit(ctx->ret, FUNC_ACCEPT);
}

SEC("tp/syscalls/sys_exit_accept4")
int sys_accept4_exit(struct trace_event_raw_sys_exit *ctx)
{
	return accept_exit(ctx->ret, FUNC_ACCEPT4);
}

/* 32-bit programs. */
SEC("fentry/__sys_accept4")
int BPF_PROG(sys_accept_compat_enter, int fd, u64 peer, void *len, int flags)
{
	return ACCEPT_DOOR() == DOOR_COMPAT ? accept_enter(fd, peer, flags) : 0;
}

SEC("fexit/__sys_accept4")
int BPF_PROG(sys_accept_compat_exit, int fd, u64 peer, void *len, int flags, int ret)
{
	struct accepting a = {.ret = ret, .fd = fd, .peer = peer, .flags = flags};
	struct call *call;

	if (ACCEPT_DOOR() != DOOR_COMPAT)
		return 0;
	call = call_of(EV_sys_accept);
	if (!call)
		return 0;
	a.start = call->ts;
	accept_socks(&a);
	accept_done(&a, FUNC_ACCEPT4, DOOR_COMPAT);
	call_end(EV_sys_accept);
	return 0;
}

/* io_uring: the descriptor is given to the file later, if there is to be one. A socket with
 * nothing to take is asked again when it has. */
SEC("fentry/do_accept")
int BPF_PROG(sys_accept_uring_enter, struct file *file, void *arg, u64 peer, void *len, int flags)
{
	return ACCEPT_DOOR() == DOOR_IO_URING ? accept_enter(UNKNOWN32, peer, flags) : 0;
}

SEC("fexit/do_accept")
int sys_accept_uring_exit(u64 *ctx)
{
	struct accepting a = {.fd = UNKNOWN32, .peer = raw_arg(ctx, 2), .flags = raw_arg(ctx, 4), .ret = raw_arg(ctx, 5)};
	struct call *call;

	if (ACCEPT_DOOR() != DOOR_IO_URING)
		return 0;
	call = call_of(EV_sys_accept);
	if (!call)
		return 0;
	a.start = call->ts;
	a.listener = file_sock((void *)raw_arg(ctx, 0));
	if ((u64)a.ret < (u64)-4095) { /* a file, not an error in its place */
		a.sk = file_sock((void *)a.ret);
		a.ret = UNKNOWN64;
	}
	if (a.ret != -EAGAIN)
		accept_done(&a, FUNC_ACCEPT4, DOOR_IO_URING);
	call_end(EV_sys_accept);
	return 0;
}
