/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Rows of the calls that read from or write to a descriptor. */
#ifndef NETREC_IO_CALL_H
#define NETREC_IO_CALL_H

#include "fd.h"

/* What is read from the socket while the descriptor is known to hold it. */
struct io_sock {
	s64 cookie;
	u32 netns;
};

/* Most reads and writes of a host are not on sockets; those are left at the first look. */
static __always_inline int io_enter(const u16 ev, int fd)
{
	struct call call = {};
	struct io_sock *io = (void *)call.bytes;
	struct sock *sk;

	if (!want_task())
		return 0;
	sk = fd_sock(fd);
	if (!sk)
		return 0;
	io->netns = sock_netns(sk, false);
	io->cookie = cookie(sk, false);
	if (!want_sock(sk, io->netns))
		return 0;
	call.arg[0] = fd;
	call.arg[1] = (u64)sk;
	return call_start(ev, &call);
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
		struct io_sock *io;                                           \
		struct ev *r;                                                 \
                                                                              \
		if (!call)                                                    \
			return 0;                                             \
		io = (void *)call->bytes;                                     \
		r = BEGIN(ev, call->arg[1], 0, io->netns);                    \
		if (r) {                                                      \
			r->cookie = io->cookie;                              \
			r->dur_ns = r->h.ts_ns - call->ts;                    \
			r->ret = ctx->ret;                                    \
			r->fd = call->arg[0];                                 \
			r->func = id;                                         \
			SUBMIT(r);                                            \
		}                                                             \
		call_end(EV_##ev);                                            \
		return 0;                                                     \
	}

#endif
