/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* From descriptor to file and socket, in the context of the task, and what is known of
 * the system call that the task is in. */
#ifndef NETREC_FILE_H
#define NETREC_FILE_H

#include "compat.h"

static __always_inline struct file *fd_file(int fd)
{
	struct task_struct *t = (void *)bpf_get_current_task();
	struct fdtable *fdt = READ(t, files, fdt);
	struct file **slot, *f = 0;

	if (fd < 0 || (u32)fd >= READ(fdt, max_fds))
		return 0;
	slot = READ(fdt, fd);
	bpf_probe_read_kernel(&f, sizeof(f), slot + fd);
	return f;
}

/* file_type is the type bits of the mode, as the enum file_type has them. */
static __always_inline u8 file_type(struct file *f)
{
	return READ(f, f_inode, i_mode) >> S_IFSHIFT;
}

static __always_inline struct sock *file_sock(struct file *f)
{
	struct socket *s;

	if (!f || file_type(f) != S_IFSOCK >> S_IFSHIFT)
		return 0;
	s = READ(f, private_data);
	return READ(s, sk);
}

static __always_inline struct sock *fd_sock(int fd)
{
	return file_sock(fd_file(fd));
}

/* task_regs is the registers with which the task came into the kernel: the arguments of
 * its system call, which stay there until it returns. */
static __always_inline struct pt_regs *task_regs(void)
{
	struct task_struct *t;

	if (cfg_task_regs)
		return (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	t = (void *)bpf_get_current_task();
	return READ(t, stack) + STACK_BYTES - bpf_core_type_size(struct pt_regs);
}

#endif
