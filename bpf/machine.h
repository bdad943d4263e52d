/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Every difference between processors that the probes must bridge; the object is compiled
 * once for each. Differences between kernels are in compat.h. */
#ifndef NETREC_MACHINE_H
#define NETREC_MACHINE_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

/* Arguments of the system call that a task is in, from task_regs. */
#define CALL_ARG1(call) READ(call, di)
#define CALL_ARG2(call) READ(call, si)
#define CALL_ARG3(call) READ(call, dx)
#define CALL_ARG4(call) READ(call, r10)
#define CALL_ARG5(call) READ(call, r8)

/* Where its program was: the instruction, its stack, and what is the frame pointer where it has one. */
#define CALL_IP(call) READ(call, ip)
#define CALL_SP(call) READ(call, sp)
#define CALL_FP(call) READ(call, bp)

/* Its number, and the numbers of calls here and of 32-bit programs, some of which have
 * one call for all of sockets. */
#define CALL_NR(call) READ(call, orig_ax)
#define X32_CALL 0x40000000
#define NR_CONNECT 42
#define NR_ACCEPT 43
#define NR_ACCEPT4 288
#define NR_IO_URING_ENTER 426
#define COMPAT_SOCKETCALL 102
#define COMPAT_CONNECT 362
#define COMPAT_ACCEPT 364 /* accept4 takes its place */
#define COMPAT_ACCEPT4 364

/* Arguments of a function beyond those that libbpf names; the seventh is on the stack. */
#define FUNC_ARG6(ctx) ((ctx)->r9)
#define FUNC_ARG7(ctx) stack_arg((ctx)->sp + 8)

#define RETURN_POPS 8     /* bytes that a return takes off the stack: its address */
#define PAST_BREAKPOINT 1 /* how far behind a kprobe the instruction pointer is */

#define STACK_BYTES 16384 /* of a task in the kernel */

/* include/uapi/linux/eventpoll.h packs it here alone. */
#define EPOLL_PACKED __attribute__((packed))

#elif defined(__TARGET_ARCH_arm64)

struct user_pt_regs {
	u64 regs[31], sp, pc, pstate;
};

struct pt_regs {
	u64 regs[31], sp, pc, pstate, orig_x0;
	s32 syscallno;
};

/* The result takes the place of the first argument before the call has returned. */
#define CALL_ARG1(call) READ(call, orig_x0)
#define CALL_ARG2(call) READ(call, regs[1])
#define CALL_ARG3(call) READ(call, regs[2])
#define CALL_ARG4(call) READ(call, regs[3])
#define CALL_ARG5(call) READ(call, regs[4])

#define CALL_IP(call) READ(call, pc)
#define CALL_SP(call) READ(call, sp)
#define CALL_FP(call) READ(call, regs[29])

#define CALL_NR(call) ((u32)READ(call, syscallno))
#define X32_CALL 0x40000000 /* no such calls here */
#define NR_CONNECT 203
#define NR_ACCEPT 202
#define NR_ACCEPT4 242
#define NR_IO_URING_ENTER 426
#define COMPAT_SOCKETCALL 283 /* no such call here; one that is listed anyway */
#define COMPAT_CONNECT 283
#define COMPAT_ACCEPT 285
#define COMPAT_ACCEPT4 366

#define FUNC_ARG6(ctx) (((struct user_pt_regs *)(ctx))->regs[5])
#define FUNC_ARG7(ctx) (((struct user_pt_regs *)(ctx))->regs[6])

#define RETURN_POPS 0 /* the address is in a register */
#define PAST_BREAKPOINT 0

#define STACK_BYTES 16384 /* more only with pages of 64 KiB */

#define EPOLL_PACKED

/* The preemption count is no variable of the CPU, but the task's. */
struct thread_info___arm64 {
	u64 preempt_count; /* the upper half is another thing */
};

struct task_struct___arm64 {
	struct thread_info___arm64 thread_info;
};

#else
#error "the probes know x86-64 and arm64"
#endif

#pragma clang attribute pop

struct epoll_event {
	u32 events;
	u64 data;
} EPOLL_PACKED;

#endif
