/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Connects and accepts that are no system calls of this machine's own kind: those of
 * io_uring and of 32-bit programs, which have no tracepoints. The kernel's functions below
 * are hooked for them; a call that has its tracepoint is left to that. */
#ifndef NETREC_DOOR_H
#define NETREC_DOOR_H

#include "fd.h"
#include "packet.h"

#define EAGAIN 11
#define EINPROGRESS 115

static __always_inline bool io_worker(void)
{
	struct task_struct *t = (void *)bpf_get_current_task();

	return READ(t, flags) & PF_IO_WORKER;
}

/* The numbers of 32-bit calls never are those of calls that lead to the same function
 * here. Threads of io_uring have a copy of somebody's registers. */
static __always_inline u8 door(u32 own, u32 own2, u32 compat, u32 compat2)
{
	u32 nr = CALL_NR(task_regs());

	if (io_worker())
		return DOOR_IO_URING;
	if (nr == own || nr == own2)
		return DOOR_SYSCALL;
	nr &= ~X32_CALL;
	if (nr == COMPAT_SOCKETCALL || nr == compat || nr == compat2 || nr == own || nr == own2)
		return DOOR_COMPAT;
	return DOOR_IO_URING;
}

#define CONNECT_DOOR() door(NR_CONNECT, NR_CONNECT, COMPAT_CONNECT, COMPAT_CONNECT)
#define ACCEPT_DOOR() door(NR_ACCEPT, NR_ACCEPT4, COMPAT_ACCEPT, COMPAT_ACCEPT4)

/* A thread of io_uring has a name of its own; the row names the process that it works for. */
static __always_inline void name_worker(struct header *h, u8 from)
{
	struct task_struct *t;

	if (from != DOOR_IO_URING || !io_worker())
		return;
	t = (void *)bpf_get_current_task();
	t = READ(t, group_leader);
	BPF_CORE_READ_INTO(&h->comm, t, comm);
}

#endif
