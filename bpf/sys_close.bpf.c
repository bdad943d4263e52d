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

#define CLOSE_RANGE_CLOEXEC 4 /* marks them for exec, which closes them */

SEC("tp/syscalls/sys_enter_close_range")
int sys_close_range_enter(struct trace_event_raw_sys_enter *ctx)
{
	if (ctx->args[2] & CLOSE_RANGE_CLOEXEC)
		return 0;
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
int BPF_PROG(sys_close_exit_tp2, struct task_struct *t, u64 group_dead)
{
	return is_true(group_dead) ? process_exit(t) : 0;
}

/* Before 6.16 the tracepoint does not say whether the thread was the last. When the last
 * two end at once, each may see that none is left, and there are two rows. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(sys_close_exit_tp, struct task_struct *t)
{
	return t->signal->live.counter ? 0 : process_exit(t);
}

/* exec closes what is marked for it. The table may be large; marks beyond this are
 * passed over. */
#define MAX_EXEC_FDS 4096

/* Functions that are verified once and not once a turn of the loop; such functions get
 * numbers only. */
__attribute__((noinline)) int exec_close(int fd)
{
	struct sock *sk = fd_sock(fd);
	struct sys_close *r;
	u32 netns;

	if (!sk)
		return 0;
	netns = sock_netns(sk, false);
	if (!want_fd(sk, netns))
		return 0;
	r = BEGIN(sys_close, sk, 0, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, false);
	r->cookie = cookie(sk, false);
	r->dur_ns = 0;
	r->ret = 0;
	r->fd = fd;
	r->fd_last = fd;
	r->func = FUNC_EXEC;
	SUBMIT(r);
	return 0;
}

__attribute__((noinline)) int exec_close_marked(u64 marks, u32 first)
{
	for (u32 i = 0; i < 64; i++)
		if (marks >> i & 1)
			exec_close(first + i);
	return 0;
}

static __always_inline int exec_closes(void)
{
	struct task_struct *t = (void *)bpf_get_current_task();
	struct fdtable *fdt = READ(t, files, fdt);
	u32 max = READ(fdt, max_fds);
	u64 *words = (void *)READ(fdt, close_on_exec);

	for (u32 i = 0; i < MAX_EXEC_FDS / 64; i++) {
		u64 marks = 0;

		if (i * 64 >= max)
			break;
		bpf_probe_read_kernel(&marks, sizeof(marks), words + i);
		if (marks)
			exec_close_marked(marks, i * 64);
	}
	return 0;
}

/* 6.10: where exec can no longer be refused, and the old program's table is still there. */
SEC("tp_btf/sched_prepare_exec")
int BPF_PROG(sys_close_exec_tp, struct task_struct *t)
{
	return exec_closes();
}

SEC("fentry/do_close_on_exec")
int BPF_PROG(sys_close_exec_fentry, struct files_struct *files)
{
	return exec_closes();
}
