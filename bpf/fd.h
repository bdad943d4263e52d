/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Rows of system calls on descriptors: whose namespace they belong to, and whether
 * they are wanted. */
#ifndef NETREC_FD_H
#define NETREC_FD_H

#include "netrec.h"

/* NULL in the file, where the least number is: -1 is a descriptor and an error. */
#define UNKNOWN32 ((s32)0x80000000)
#define UNKNOWN64 ((s64)0x8000000000000000ll)

static __always_inline u32 fd_netns(struct sock *sk)
{
	return sk ? sock_netns(sk, false) : task_netns();
}

/* want_place is for the start of a call that may wait for long: in a namespace that nobody
 * asked for it would only take the room of others. */
static __always_inline bool want_place(s32 fd)
{
	return !cfg_netns || want_netns(fd_netns(fd_sock(fd)));
}

/* want_fd judges by the socket where there is one. */
static __always_inline bool want_fd(struct sock *sk, u32 netns)
{
	return sk ? want_sock(sk, netns) : want_call(netns);
}

#endif
