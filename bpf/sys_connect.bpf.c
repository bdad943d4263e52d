//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "door.h"
#include "connects.h"

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

static __always_inline int connect_done(void *ctx, struct call *call, struct sock *sk, s32 fd, s64 ret, const u8 from)
{
	u32 netns = sk ? sock_netns(sk, false) : task_netns();
	struct sys_connect *r;

	if (sk ? !want_peer(sk, netns, call->addr, call->port, call->family) : !want_call(netns))
		return 0;
	if (cfg_share && sk && ret == -EINPROGRESS)
		connect_begun(sk);
	r = BEGIN(sys_connect, sk, 0, netns);
	if (!r)
		return 0;
	name_worker(&r->h, from);
	r->cookie = sk ? cookie(sk, false) : 0;
	r->dur_ns = call->ts ? r->h.ts_ns - call->ts : 0;
	r->ret = ret;
	__builtin_memcpy(r->dest_addr, call->addr, sizeof(r->dest_addr));
	r->dest_port = call->port;
	r->family = call->family;
	r->sock_type = sk ? READ(sk, sk_type) : 0;
	r->protocol = sk ? READ(sk, sk_protocol) : NO_PROTOCOL;
	r->fd = fd;
	r->door = from;
	if (from == DOOR_IO_URING) /* a worker's registers are a copy of somebody's */
		FILL_STACK(r->ustack, BPF_F_USER_STACK);
	else
		FILL_CALLER(r->ustack);
	SUBMIT_STACK(r);
	return 0;
}

/* A call that began before the recording did is known by its registers. */
SEC("tp/syscalls/sys_exit_connect")
int sys_connect_exit(struct trace_event_raw_sys_exit *ctx)
{
	struct call *call = call_of(EV_sys_connect), late = {};
	struct pt_regs *regs;

	if (call) {
		connect_done(ctx, call, fd_sock(call->arg[0]), call->arg[0], ctx->ret, DOOR_SYSCALL);
		call_end(EV_sys_connect);
		return 0;
	}
	if (!want_task())
		return 0;
	regs = task_regs();
	user_addr((void *)CALL_ARG2(regs), late.addr, &late.port, &late.family);
	return connect_done(ctx, &late, fd_sock(CALL_ARG1(regs)), CALL_ARG1(regs), ctx->ret, DOOR_SYSCALL);
}

/* 32-bit programs: the descriptor and the address are the caller's. */
SEC("fentry/__sys_connect")
int BPF_PROG(sys_connect_compat_enter, int fd, void *addr)
{
	struct call call = {};

	if (CONNECT_DOOR() != DOOR_COMPAT || !want_task())
		return 0;
	user_addr(addr, call.addr, &call.port, &call.family);
	return call_start(EV_sys_connect, &call);
}

SEC("fexit/__sys_connect")
int BPF_PROG(sys_connect_compat_exit, int fd, void *addr, int len, int ret)
{
	struct call *call;

	if (CONNECT_DOOR() != DOOR_COMPAT)
		return 0;
	call = call_of(EV_sys_connect);
	if (!call)
		return 0;
	connect_done(ctx, call, fd_sock(fd), fd, ret, DOOR_COMPAT);
	call_end(EV_sys_connect);
	return 0;
}

/* io_uring: without waiting at first, and once more when the socket is ready, which only
 * asks how it went. A row is made of the first. */
SEC("fentry/__sys_connect_file")
int BPF_PROG(sys_connect_uring_enter, struct file *file, void *addr)
{
	struct socket *sock = READ(file, private_data);
	struct call call = {};

	if (CONNECT_DOOR() != DOOR_IO_URING || !want_task() || !file_sock(file))
		return 0;
	if (READ(sock, state) == SS_CONNECTING)
		return 0;
	read_sockaddr(addr, call.addr, &call.port, &call.family);
	if (!call.family)
		bpf_probe_read_kernel(&call.family, sizeof(call.family), addr);
	return call_start(EV_sys_connect, &call);
}

SEC("fexit/__sys_connect_file")
int BPF_PROG(sys_connect_uring_exit, struct file *file, void *addr, int len, int flags, int ret)
{
	struct call *call;

	if (CONNECT_DOOR() != DOOR_IO_URING)
		return 0;
	call = call_of(EV_sys_connect);
	if (!call)
		return 0;
	if (ret != -EAGAIN)
		connect_done(ctx, call, file_sock(file), UNKNOWN32, ret, DOOR_IO_URING);
	call_end(EV_sys_connect);
	return 0;
}

/* Where functions cannot be hooked, TCP's connects are seen by their change of state: a
 * moment before the call has anything to return, so they are in progress. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(sys_connect_state_tp, struct sock *sk, int oldstate, int newstate)
{
	struct call call = {};
	TUPLE(t);
	u32 nr;
	u8 from;

	if (newstate != TCP_SYN_SENT || sk->sk_protocol != IPPROTO_TCP || !want_task())
		return 0;
	from = CONNECT_DOOR();
	nr = CALL_NR(task_regs());
	/* fast open sends its SYN from a call that sends, the kernel its own from its threads */
	if (from == DOOR_SYSCALL || (from == DOOR_IO_URING && !io_worker() && nr != NR_IO_URING_ENTER))
		return 0;
	fill_tuple(&t, sk, true);
	__builtin_memcpy(call.addr, t.raddr, sizeof(call.addr));
	call.port = t.rport;
	call.family = t.family;
	return connect_done(ctx, &call, sk, UNKNOWN32, -EINPROGRESS, from);
}
