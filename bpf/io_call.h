/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Rows of the calls that read from or write to a descriptor. */
#ifndef NETREC_IO_CALL_H
#define NETREC_IO_CALL_H

#include "budget.h"
#include "fd.h"

/* What is read from the socket while the descriptor is known to hold it. */
struct io_sock {
	s64 cookie;
	u32 netns;
};

/* Threads whose calls were seen from their start, so that only calls that began before the
 * recording are looked at when they end. Threads whose numbers end alike share a place, and
 * are then looked at once more. */
#define ENTERED_THREADS 16384

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ENTERED_THREADS);
	__type(key, u32);
	__type(value, u32);
} entered SEC(".maps");

static __always_inline u32 *entered_of(u32 tid)
{
	u32 slot = tid & (ENTERED_THREADS - 1);

	return bpf_map_lookup_elem(&entered, &slot);
}

/* Most reads and writes of a host are not on sockets; those are left at the first look. */
static __always_inline int io_enter(const u16 ev, int fd)
{
	struct call call = {};
	struct io_sock *io = (void *)call.bytes;
	u32 tid = bpf_get_current_pid_tgid(), *mark = entered_of(tid);
	struct sock *sk;

	if (mark)
		*mark = tid;
	if (!want_task())
		return 0;
	sk = fd_sock(fd);
	if (!sk)
		return 0;
	io->netns = sock_netns(sk, false);
	io->cookie = cookie(sk, false);
	if (!want_sock(sk, io->netns) || !hot_row(ev, sk, false))
		return 0;
	call.arg[0] = fd;
	call.arg[1] = (u64)sk;
	return call_start(ev, &call);
}

/* io_waited finds the socket of a call that began before the recording did, by its registers. */
static __always_inline struct sock *io_waited(const u16 ev, struct io_sock *io, s32 *fd)
{
	u32 tid = bpf_get_current_pid_tgid(), *mark = entered_of(tid);
	struct sock *sk;

	if (!mark || *mark == tid || !want_task())
		return 0;
	*fd = CALL_ARG1(task_regs());
	sk = fd_sock(*fd);
	if (!sk)
		return 0;
	io->netns = sock_netns(sk, false);
	io->cookie = cookie(sk, false);
	return want_sock(sk, io->netns) && hot_row(ev, sk, false) ? sk : 0;
}

/* Two programs for the call name, making rows of event ev. */
#define IO_CALL(ev, name, id)                                                 \
	SEC("tp/syscalls/sys_enter_" #name)                                   \
	int ev##_##name##_enter(struct trace_event_raw_sys_enter *ctx)        \
	{                                                                     \
		return io_enter(EV_##ev, ctx->args[0]);                       \
	}                                                                     \
                                                                              \
	SEC("tp/syscalls/sys_exit_" #name)                                    \
	int ev##_##name##_exit(struct trace_event_raw_sys_exit *ctx)          \
	{                                                                     \
		struct call *call = call_of(EV_##ev);                         \
		struct io_sock late = {}, *io = &late;                        \
		struct sock *sk;                                              \
		struct ev *r;                                                 \
		s32 fd = 0;                                                   \
                                                                              \
		if (call) {                                                   \
			__builtin_memcpy(io, call->bytes, sizeof(*io));       \
			sk = (void *)call->arg[1];                            \
			fd = call->arg[0];                                    \
		} else {                                                      \
			sk = io_waited(EV_##ev, io, &fd);                     \
			if (!sk)                                              \
				return 0;                                     \
		}                                                             \
		r = BEGIN(ev, sk, 0, io->netns);                              \
		if (r) {                                                      \
			r->cookie = io->cookie;                               \
			r->dur_ns = call ? r->h.ts_ns - call->ts : 0;         \
			r->ret = ctx->ret;                                    \
			r->fd = fd;                                           \
			r->func = id;                                         \
			SUBMIT(r);                                            \
		}                                                             \
		if (call)                                                     \
			call_end(EV_##ev);                                    \
		return 0;                                                     \
	}

#endif
