//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "fd.h"
#include "share.h"

/* As many buffers as the kernel itself keeps without allocating; the size of more is
 * not known. */
#define MAX_BUFFERS 8

static __always_inline s64 vec_size(const void *vec, u64 n)
{
	struct {
		u64 base, len;
	} buffer;
	s64 size = 0;

	if (n > MAX_BUFFERS)
		return -1;
	for (u64 i = 0; i < MAX_BUFFERS; i++) {
		if (i >= n)
			break;
		if (bpf_probe_read_user(&buffer, sizeof(buffer), vec + i * sizeof(buffer)))
			return -1;
		size += buffer.len;
	}
	return size;
}

/* vec is where the n buffers are listed, 0 for one of n bytes. */
static __always_inline int vfs_rw(struct file *f, const void *vec, u64 n, const u8 func)
{
	struct vfs_rw *r;
	struct sock *sk;
	u32 netns;

	if (!share_time())
		return 0;
	sk = file_sock(f);
	netns = fd_netns(sk);
	if (!want_fd(sk, netns))
		return 0;
	r = BEGIN(vfs_rw, sk, 0, netns);
	if (!r)
		return 0;
	r->file_ino = READ(f, f_inode, i_ino);
	r->asked_bytes = vec ? vec_size(vec, n) : n;
	r->file_type = file_type(f);
	r->func = func;
	SUBMIT(r);
	return 0;
}

SEC("fentry/vfs_read")
int BPF_PROG(vfs_rw_read, struct file *f, char *buf, u64 count)
{
	return vfs_rw(f, 0, count, FUNC_VFS_READ);
}

SEC("fentry/vfs_write")
int BPF_PROG(vfs_rw_write, struct file *f, char *buf, u64 count)
{
	return vfs_rw(f, 0, count, FUNC_VFS_WRITE);
}

SEC("fentry/vfs_readv")
int BPF_PROG(vfs_rw_readv, struct file *f, void *vec, u64 n)
{
	return vfs_rw(f, vec, n, FUNC_VFS_READV);
}

SEC("fentry/vfs_writev")
int BPF_PROG(vfs_rw_writev, struct file *f, void *vec, u64 n)
{
	return vfs_rw(f, vec, n, FUNC_VFS_WRITEV);
}

SEC("kprobe/vfs_read")
int BPF_KPROBE(vfs_rw_read_kprobe, struct file *f, char *buf, u64 count)
{
	return vfs_rw(f, 0, count, FUNC_VFS_READ);
}

SEC("kprobe/vfs_write")
int BPF_KPROBE(vfs_rw_write_kprobe, struct file *f, char *buf, u64 count)
{
	return vfs_rw(f, 0, count, FUNC_VFS_WRITE);
}

SEC("kprobe/vfs_readv")
int BPF_KPROBE(vfs_rw_readv_kprobe, struct file *f, void *vec, u64 n)
{
	return vfs_rw(f, vec, n, FUNC_VFS_READV);
}

SEC("kprobe/vfs_writev")
int BPF_KPROBE(vfs_rw_writev_kprobe, struct file *f, void *vec, u64 n)
{
	return vfs_rw(f, vec, n, FUNC_VFS_WRITEV);
}
