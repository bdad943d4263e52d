//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "scm.h"

#define F_DUPFD 0
#define F_DUPFD_CLOEXEC 1030

static __always_inline int dup_enter(int fd)
{
	struct sock *sk = fd_sock(fd);
	struct call call = {};

	if (!sk || !want_fd(sk, sock_netns(sk, false)))
		return 0;
	call.arg[0] = fd;
	call.arg[1] = (u64)sk;
	return call_start(EV_fd_dup, &call);
}

#define DUP_ENTER(name)                                                       \
	SEC("tp/syscalls/sys_enter_" #name)                                   \
	int fd_dup_##name##_enter(struct trace_event_raw_sys_enter *ctx)      \
	{                                                                     \
		return dup_enter(ctx->args[0]);                               \
	}

DUP_ENTER(dup)
DUP_ENTER(dup2)
DUP_ENTER(dup3)

SEC("tp/syscalls/sys_enter_fcntl")
int fd_dup_fcntl_enter(struct trace_event_raw_sys_enter *ctx)
{
	if (ctx->args[1] != F_DUPFD && ctx->args[1] != F_DUPFD_CLOEXEC)
		return 0;
	return dup_enter(ctx->args[0]);
}

static __always_inline void dup_done(struct call *call, s64 ret, const u8 func)
{
	struct sock *sk = (void *)call->arg[1];
	struct fd_dup *r;

	/* dup2 of a descriptor to itself changes nothing. */
	if (ret < 0 || ret == call->arg[0])
		return;
	r = BEGIN(fd_dup, sk, 0, sock_netns(sk, false));
	if (!r)
		return;
	r->cookie = cookie(sk, false);
	r->fd = call->arg[0];
	r->fd_new = ret;
	r->child_pid = 0;
	r->fds_shared = -1;
	r->func = func;
	SUBMIT(r);
}

#define DUP_EXIT(name, id)                                                    \
	SEC("tp/syscalls/sys_exit_" #name)                                    \
	int fd_dup_##name##_exit(struct trace_event_raw_sys_exit *ctx)        \
	{                                                                     \
		struct call *call = call_of(EV_fd_dup);                       \
                                                                              \
		if (!call)                                                    \
			return 0;                                             \
		dup_done(call, ctx->ret, id);                                 \
		call_end(EV_fd_dup);                                          \
		return 0;                                                     \
	}

DUP_EXIT(dup, FUNC_DUP)
DUP_EXIT(dup2, FUNC_DUP2)
DUP_EXIT(dup3, FUNC_DUP3)
DUP_EXIT(fcntl, FUNC_FCNTL)

/* Runs in the parent, before the child does. A thread has its process's descriptors. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(fd_dup_fork_tp, struct task_struct *parent, struct task_struct *child)
{
	struct fd_dup *r;
	u32 netns;

	if (parent->tgid == child->tgid)
		return 0;
	netns = task_netns();
	if (!want_fd(0, netns))
		return 0;
	r = BEGIN(fd_dup, 0, 0, netns);
	if (!r)
		return 0;
	r->cookie = 0;
	r->fd = -1;
	r->fd_new = -1;
	r->child_pid = child->tgid;
	r->fds_shared = parent->files == child->files;
	r->func = FUNC_FORK;
	SUBMIT(r);
	return 0;
}

/* A socket that came in a message. A function that is verified once and not once a turn
 * of the loop; such functions get numbers only. */
__attribute__((noinline)) int dup_received(int fd)
{
	struct sock *sk = fd_sock(fd);
	struct fd_dup *r;
	u32 netns;

	if (!sk)
		return 0;
	netns = sock_netns(sk, false);
	if (!want_fd(sk, netns))
		return 0;
	r = BEGIN(fd_dup, sk, 0, netns);
	if (!r)
		return 0;
	r->cookie = cookie(sk, false);
	r->fd = -1;
	r->fd_new = fd;
	r->child_pid = 0;
	r->fds_shared = -1;
	r->func = FUNC_SCM_DETACH_FDS;
	SUBMIT(r);
	return 0;
}

__attribute__((noinline)) int dup_received_all(u64 data, u64 n)
{
	for (u64 i = 0; i < SCM_MAX_FD; i++) {
		int fd = -1;

		if (i >= n)
			break;
		bpf_probe_read_user(&fd, sizeof(fd), (void *)(data + i * sizeof(fd)));
		dup_received(fd);
	}
	return 0;
}

SEC("fentry/scm_detach_fds")
int BPF_PROG(fd_dup_scm_fentry, struct msghdr *msg, struct scm_cookie *scm)
{
	return detach_enter(EV_fd_dup, msg, scm);
}

SEC("fexit/scm_detach_fds")
int BPF_PROG(fd_dup_scm_fexit, struct msghdr *msg, struct scm_cookie *scm)
{
	struct call *call = call_of(EV_fd_dup);
	u64 data = 0;
	u32 n;

	if (!call)
		return 0;
	n = detached(call, msg, &data);
	if (n)
		dup_received_all(data, n);
	call_end(EV_fd_dup);
	return 0;
}

/* Where functions cannot be hooked; the kernel makes one such control message of all
 * descriptors of a message. */
SEC("tp/syscalls/sys_exit_recvmsg")
int fd_dup_recvmsg_exit(struct trace_event_raw_sys_exit *ctx)
{
	struct user_msg msg = {};
	u64 at, end;

	if (ctx->ret < 0 || !want_task() || bpf_probe_read_user(&msg, sizeof(msg), (void *)CALL_ARG2(task_regs())))
		return 0;
	at = (u64)msg.control;
	end = at + msg.controllen;
	for (int i = 0; i < MAX_CMSGS; i++) {
		struct cmsg c = {};
		u32 n;

		if (!at || at + sizeof(c) > end || bpf_probe_read_user(&c, sizeof(c), (void *)at) || c.len < sizeof(c))
			break;
		n = cmsg_fds(&c);
		if (n)
			dup_received_all(at + sizeof(c), n);
		at += cmsg_space(c.len);
	}
	return 0;
}
