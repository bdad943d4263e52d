/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Rows of system calls on descriptors: whose namespace they belong to, and whether
 * they are wanted. */
#ifndef NETREC_FD_H
#define NETREC_FD_H

#include "netrec.h"

static __always_inline u32 fd_netns(struct sock *sk)
{
	return sk ? sock_netns(sk, false) : task_netns();
}

/* epoll_of is the epoll instance that a descriptor leads to: numbers of descriptors are
 * given away again. */
static __always_inline void *epoll_of(s32 fd)
{
	struct file *f = fd < 0 ? 0 : fd_file(fd);

	return f ? BPF_CORE_READ(f, private_data) : 0;
}

/* want_fd judges by the socket where there is one. */
static __always_inline bool want_fd(struct sock *sk, u32 netns)
{
	return sk ? want_sock(sk, netns) : want_call(netns);
}

#endif
