//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "fd.h"
#include "connects.h"

#define NSEC_PER_USEC 1000LL
#define NSEC_PER_MSEC 1000000LL
#define NSEC_PER_SEC 1000000000LL

/* What a call asked for. select overwrites it, so it is kept from the start. */
struct polling {
	union {
		u64 pollfds[POLL_LIMIT_FDS];
		struct {
			u64 sets[3 * POLL_LIMIT_WORDS];
			void *user[3];
		};
	};
};

_Static_assert(sizeof(struct polling) <= sizeof(((struct call *)0)->bytes), "struct call holds struct polling");

/* The layout of call.arg: user memory; nfds, and above it epfd; timeout. */
static __always_inline int poll_start(struct call *call, u64 user, u32 nfds, s32 epfd, s64 timeout)
{
	call->arg[0] = user;
	call->arg[1] = (u64)(u32)epfd << 32 | nfds;
	call->arg[2] = timeout;
	return call_start(EV_sys_poll, call);
}

/* A negative number of milliseconds is for ever. */
static __always_inline s64 from_ms(u64 ms)
{
	return (s32)ms < 0 ? -1 : (s32)ms * NSEC_PER_MSEC;
}

/* struct timespec or, with another unit, struct timeval. */
static __always_inline s64 from_time(u64 user, const s64 unit)
{
	s64 t[2] = {};

	if (!user || bpf_probe_read_user(t, sizeof(t), (void *)user))
		return -1;
	return t[0] * NSEC_PER_SEC + t[1] * unit;
}

/* The verifier wants to see the limit on the very register that is the size, so the
 * compiler must not move the comparison to where the size came from. */
static __always_inline u64 at_most(u64 size, const u64 limit)
{
	asm volatile("" : "+r"(size));
	return size < limit ? size : limit;
}

static __always_inline u64 pollfds_bytes(u32 n)
{
	return at_most((u64)n * 8, POLL_LIMIT_FDS * 8);
}

static __always_inline int poll_enter(struct trace_event_raw_sys_enter *ctx, s64 timeout)
{
	struct call call = {};
	struct polling *p = (void *)call.bytes;
	u32 n = ctx->args[1];

	if (!share_wait() || !want_task())
		return 0;
	bpf_probe_read_user(p->pollfds, pollfds_bytes(n), (void *)ctx->args[0]);
	return poll_start(&call, ctx->args[0], n, -1, timeout);
}

SEC("tp/syscalls/sys_enter_poll")
int sys_poll_enter(struct trace_event_raw_sys_enter *ctx)
{
	return poll_enter(ctx, from_ms(ctx->args[2]));
}

SEC("tp/syscalls/sys_enter_ppoll")
int sys_ppoll_enter(struct trace_event_raw_sys_enter *ctx)
{
	return poll_enter(ctx, from_time(ctx->args[2], 1));
}

/* The kernel reads and writes whole words of a set, but no more than nfds needs. */
static __always_inline u64 set_bytes(u32 nfds)
{
	return at_most(((u64)nfds + 63) / 64 * 8, POLL_LIMIT_WORDS * 8);
}

static __always_inline void read_sets(u64 *sets, void **user, u32 nfds)
{
	u64 size = set_bytes(nfds);

	for (int i = 0; i < 3; i++)
		if (user[i])
			bpf_probe_read_user(sets + i * POLL_LIMIT_WORDS, size, user[i]);
}

static __always_inline int select_enter(struct trace_event_raw_sys_enter *ctx, const s64 unit)
{
	struct call call = {};
	struct polling *p = (void *)call.bytes;

	if (!share_wait() || !want_task())
		return 0;
	p->user[0] = (void *)ctx->args[1];
	p->user[1] = (void *)ctx->args[2];
	p->user[2] = (void *)ctx->args[3];
	read_sets(p->sets, p->user, ctx->args[0]);
	return poll_start(&call, 0, ctx->args[0], -1, from_time(ctx->args[4], unit));
}

SEC("tp/syscalls/sys_enter_select")
int sys_select_enter(struct trace_event_raw_sys_enter *ctx)
{
	return select_enter(ctx, NSEC_PER_USEC);
}

SEC("tp/syscalls/sys_enter_pselect6")
int sys_pselect6_enter(struct trace_event_raw_sys_enter *ctx)
{
	return select_enter(ctx, 1);
}

static __always_inline int epoll_enter(struct trace_event_raw_sys_enter *ctx, s64 timeout)
{
	struct call call = {};

	return share_wait() && want_task() ? poll_start(&call, ctx->args[1], ctx->args[2], ctx->args[0], timeout) : 0;
}

SEC("tp/syscalls/sys_enter_epoll_wait")
int sys_epoll_wait_enter(struct trace_event_raw_sys_enter *ctx)
{
	return epoll_enter(ctx, from_ms(ctx->args[3]));
}

SEC("tp/syscalls/sys_enter_epoll_pwait")
int sys_epoll_pwait_enter(struct trace_event_raw_sys_enter *ctx)
{
	return epoll_enter(ctx, from_ms(ctx->args[3]));
}

SEC("tp/syscalls/sys_enter_epoll_pwait2")
int sys_epoll_pwait2_enter(struct trace_event_raw_sys_enter *ctx)
{
	return epoll_enter(ctx, from_time(ctx->args[3], 1));
}

#define HEAD(form, count) ((u64)(form) | (u64)(count) << 32)

static __always_inline void fill_poll(struct sys_poll *r, struct call *call, u32 found)
{
	struct polling *p = (void *)call->bytes;
	u32 n = call->arg[1];

	r->fds[0] = HEAD(POLL_FORM_WANTED, n);
	__builtin_memcpy(r->fds + 1, p->pollfds, sizeof(p->pollfds));
	r->ready[0] = HEAD(POLL_FORM_READY, found);
	if (found)
		bpf_probe_read_user(r->ready + 1, pollfds_bytes(n), (void *)call->arg[0]);
}

static __always_inline void fill_select(struct sys_poll *r, struct call *call, u32 found)
{
	struct polling *p = (void *)call->bytes;
	u32 n = call->arg[1];

	if (call->ts) {
		r->fds[0] = HEAD(POLL_FORM_BITS, n);
		__builtin_memcpy(r->fds + 1, p->sets, sizeof(p->sets));
	}
	r->ready[0] = HEAD(POLL_FORM_BITS_OUT, found);
	if (found)
		read_sets(r->ready + 1, p->user, n);
}

#define EPOLL_BYTES 12 /* of an event without a gap, as the record has it */

static __always_inline void pack_epoll(u32 *out, u64 user, u32 found)
{
	struct epoll_event e;

	for (u32 i = 0; i < POLL_LIMIT_FDS; i++) {
		if (i >= found || bpf_probe_read_user(&e, sizeof(e), (void *)(user + i * sizeof(e))))
			return;
		out[3 * i] = e.events;
		out[3 * i + 1] = e.data;
		out[3 * i + 2] = e.data >> 32;
	}
}

static __always_inline void fill_epoll(struct sys_poll *r, struct call *call, u32 found)
{
	u64 size = at_most((u64)found * EPOLL_BYTES, POLL_LIMIT_FDS * EPOLL_BYTES);

	r->fds[0] = 0;
	r->ready[0] = HEAD(POLL_FORM_EPOLL, found);
	if (found && sizeof(struct epoll_event) == EPOLL_BYTES)
		bpf_probe_read_user(r->ready + 1, size, (void *)call->arg[0]);
	else if (found)
		pack_epoll((u32 *)(r->ready + 1), call->arg[0], found);
}

/* A call that watches one descriptor of a socket belongs to that socket. */
static __always_inline struct sock *poll_sock(struct call *call, const u8 func)
{
	struct polling *p = (void *)call->bytes;

	if ((func != FUNC_POLL && func != FUNC_PPOLL) || (u32)call->arg[1] != 1)
		return 0;
	return fd_sock((s32)p->pollfds[0]);
}

/* poll_waited makes the call again of its registers, for one that began before the recording
 * did. What select asked for it has written its answer over. */
static __always_inline void poll_waited(struct call *call, const u8 func)
{
	struct polling *p = (void *)call->bytes;
	struct pt_regs *regs = task_regs();

	call->arg[2] = (u64)-1;
	switch (func) {
	case FUNC_POLL:
	case FUNC_PPOLL:
		call->arg[0] = CALL_ARG1(regs);
		call->arg[1] = (u64)(u32)-1 << 32 | (u32)CALL_ARG2(regs);
		bpf_probe_read_user(p->pollfds, pollfds_bytes(call->arg[1]), (void *)call->arg[0]);
		break;
	case FUNC_SELECT:
	case FUNC_PSELECT6:
		call->arg[1] = (u64)(u32)-1 << 32 | (u32)CALL_ARG1(regs);
		p->user[0] = (void *)CALL_ARG2(regs);
		p->user[1] = (void *)CALL_ARG3(regs);
		p->user[2] = (void *)CALL_ARG4(regs);
		break;
	default:
		call->arg[0] = CALL_ARG2(regs);
		call->arg[1] = CALL_ARG1(regs) << 32 | (u32)CALL_ARG3(regs);
	}
	if (func == FUNC_POLL)
		call->arg[2] = from_ms(CALL_ARG3(regs));
	else if (func == FUNC_EPOLL_WAIT || func == FUNC_EPOLL_PWAIT)
		call->arg[2] = from_ms(CALL_ARG4(regs));
}

static __always_inline void poll_done(struct call *call, s64 ret, const u8 func)
{
	struct sock *sk = poll_sock(call, func);
	u32 netns = fd_netns(sk), found = ret > 0 ? ret : 0;
	struct sys_poll *r;

	if (!want_fd(sk, netns))
		return;
	r = BEGIN(sys_poll, sk, 0, netns);
	if (!r)
		return;
	r->dur_ns = call->ts ? r->h.ts_ns - call->ts : 0;
	r->ret = ret;
	r->timeout_ns = call->arg[2];
	r->nfds = (u32)call->arg[1];
	r->epfd = call->arg[1] >> 32;
	r->func = func;
	__builtin_memset(r->fds, 0, sizeof(r->fds));
	__builtin_memset(r->ready, 0, sizeof(r->ready));
	if (func == FUNC_POLL || func == FUNC_PPOLL)
		fill_poll(r, call, found);
	else if (func == FUNC_SELECT || func == FUNC_PSELECT6)
		fill_select(r, call, found);
	else
		fill_epoll(r, call, found);
	SUBMIT(r);
}

#define POLL_EXIT(name, id)                                                   \
	SEC("tp/syscalls/sys_exit_" #name)                                    \
	int sys_##name##_exit(struct trace_event_raw_sys_exit *ctx)           \
	{                                                                     \
		struct call *call = call_of(EV_sys_poll), late = {};          \
                                                                              \
		if (call) {                                                   \
			poll_done(call, ctx->ret, id);                        \
			call_end(EV_sys_poll);                                \
		} else if ((!cfg_share || connecting()) && want_task()) {     \
			poll_waited(&late, id);                               \
			poll_done(&late, ctx->ret, id);                       \
		}                                                             \
		return 0;                                                     \
	}

POLL_EXIT(poll, FUNC_POLL)
POLL_EXIT(ppoll, FUNC_PPOLL)
POLL_EXIT(select, FUNC_SELECT)
POLL_EXIT(pselect6, FUNC_PSELECT6)
POLL_EXIT(epoll_wait, FUNC_EPOLL_WAIT)
POLL_EXIT(epoll_pwait, FUNC_EPOLL_PWAIT)
POLL_EXIT(epoll_pwait2, FUNC_EPOLL_PWAIT2)
