/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Descriptors in control messages of UNIX sockets (SCM_RIGHTS). */
#ifndef NETREC_SCM_H
#define NETREC_SCM_H

#include "fd.h"

#define SOL_SOCKET 1
#define SCM_RIGHTS 1
#define MSG_CMSG_COMPAT 0x80000000 /* of a 32-bit process, whose messages have another form */

/* UAPI layouts. */
struct cmsg {
	u64 len; /* with this header */
	s32 level;
	s32 type;
};

struct user_msg {
	u64 name, namelen, iov, iovlen;
	void *control;
	u64 controllen;
};

/* Control messages of one kind are rarely more than one, and kinds are few. */
#define MAX_CMSGS 4

static __always_inline u32 cmsg_fds(struct cmsg *c)
{
	if (c->level != SOL_SOCKET || c->type != SCM_RIGHTS || c->len < sizeof(*c))
		return 0;
	return (c->len - sizeof(*c)) / sizeof(s32);
}

static __always_inline u64 cmsg_space(u64 len)
{
	return (len + 7) & ~7ull;
}

/* When the kernel hands descriptors to a receiver, the message tells what it did only by
 * how far it has filled the buffer for control messages. So its start is kept. */
static __always_inline int detach_enter(const u16 ev, struct msghdr *msg, struct scm_cookie *scm)
{
	struct call call = {};

	if (!want_task() || msg->msg_flags & MSG_CMSG_COMPAT)
		return 0;
	call.arg[0] = (u64)BPF_CORE_READ(msg, msg_control);
	call.arg[1] = READ(scm, fp, count);
	return call_start(ev, &call);
}

/* detached is how many descriptors the receiver got, and where their numbers are in its
 * memory. */
static __always_inline u32 detached(struct call *call, struct msghdr *msg, u64 *numbers)
{
	u64 start = call->arg[0], filled = (u64)BPF_CORE_READ(msg, msg_control) - start;
	struct cmsg c = {};
	u32 n;

	if (filled <= sizeof(c) || bpf_probe_read_user(&c, sizeof(c), (void *)start))
		return 0;
	*numbers = start + sizeof(c);
	n = cmsg_fds(&c);
	return n <= (filled - sizeof(c)) / sizeof(s32) ? n : 0;
}

#endif
