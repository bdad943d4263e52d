//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "scm.h"

#define PATH_PART 64 /* longer names are cut */
#define PATH_LAST 127 /* where the last part may begin */
#define PATH_DEPTH 12

_Static_assert(PATH_LAST + PATH_PART < sizeof(((struct scm_fd *)0)->file_name), "the last part fits");

/* fill_path writes the parts of a file's name from the last to the first, and across
 * mounts up to the root. */
static __always_inline void fill_path(u8 *dst, struct file *f)
{
	struct vfsmount *mnt = READ(f, f_path.mnt);
	struct dentry *d = READ(f, f_path.dentry);
	u64 at = 1;

	dst[0] = PATH_FORM_CUT;
	for (int i = 0; i < PATH_DEPTH; i++) {
		struct dentry *parent = READ(d, d_parent);
		long n;

		if (d == READ(mnt, mnt_root)) {
			struct mount *m = (void *)mnt - bpf_core_field_offset(struct mount, mnt);
			struct mount *above = READ(m, mnt_parent);

			if (m == above) {
				dst[0] = PATH_FORM_ROOTED;
				return;
			}
			d = READ(m, mnt_mountpoint);
			mnt = (void *)above + bpf_core_field_offset(struct mount, mnt);
			continue;
		}
		if (at > PATH_LAST)
			return;
		asm volatile("%0 &= %1" : "+r"(at) : "i"(PATH_LAST)); /* 5.10 does not follow the comparison */
		n = bpf_probe_read_kernel_str(dst + at, PATH_PART, READ(d, d_name.name));
		if (n <= 0)
			return;
		at += n;
		if (d == parent) {
			dst[0] = PATH_FORM_FREE;
			return;
		}
		d = parent;
	}
}

/* The caller's descriptor of the socket: the first argument of all calls that pass
 * descriptors, but for io_uring's, which is none of a socket. */
static __always_inline int socket_fd(struct sock *sk)
{
	int fd = CALL_ARG1(task_regs());

	return sk && fd_sock(fd) == sk ? fd : -1;
}

/* Where in its message a descriptor is, as one number. */
#define PLACE(dir, nth, count) ((u64)(dir) << 32 | (u64)(nth) << 16 | (u16)(count))

/* A function that is verified once and not once a turn of the loop; such functions get
 * numbers only. */
__attribute__((noinline)) int scm_row(u64 sock, u64 file, int fd, u64 place)
{
	struct sock *sk = (void *)sock;
	struct file *f = (void *)file;
	struct scm_fd *r = BEGIN(scm_fd, sk, 0, fd_netns(sk));
	u8 type;

	if (!r)
		return 0;
	type = file_type(f);
	r->peer_sock = 0;
	if (sk && READ(sk, __sk_common.skc_family) == AF_UNIX)
		r->peer_sock = (u64)READ((struct unix_sock *)sk, peer);
	r->passed_sock = (u64)file_sock(f);
	r->file = file;
	r->file_ino = READ(f, f_inode, i_ino);
	r->fd = socket_fd(sk);
	r->fd_passed = fd;
	r->nth = place >> 16;
	r->fds_count = place;
	r->file_type = type;
	r->dir = place >> 32;
	__builtin_memset(r->file_name, 0, sizeof(r->file_name));
	if (type != S_IFSOCK >> S_IFSHIFT && type != S_IFIFO >> S_IFSHIFT)
		fill_path(r->file_name, f);
	SUBMIT(r);
	return 0;
}

/* scm_files makes the rows of one control message of a sender, with n descriptors whose
 * numbers are at data; their files are in the list from position first on. */
__attribute__((noinline)) int scm_files(u64 sock, u64 list, u64 data, u64 first, u64 n)
{
	struct scm_fp_list *fp = (void *)list;
	u64 count = READ(fp, count);
	u64 files = list + bpf_core_field_offset(struct scm_fp_list, fp);

	for (u64 i = 0; i < SCM_MAX_FD; i++) {
		u64 file = 0;
		int fd = -1;

		if (i >= n || first + i >= count)
			break;
		bpf_probe_read_kernel(&fd, sizeof(fd), (void *)(data + i * sizeof(fd)));
		bpf_probe_read_kernel(&file, sizeof(file), (void *)(files + (first + i) * sizeof(file)));
		scm_row(sock, file, fd, PLACE(DIR_SEND, first + i, count));
	}
	return 0;
}

SEC("fexit/__scm_send")
int BPF_PROG(scm_fd_send_fexit, struct socket *sock, struct msghdr *msg, struct scm_cookie *scm, int ret)
{
	u64 sk = 0, list = 0, at, end, first = 0;

	if (ret || !scm->fp || !want_fd(sock->sk, sock_netns(sock->sk, true)))
		return 0;
	/* The same as numbers. */
	bpf_probe_read_kernel(&sk, sizeof(sk), &sock->sk);
	bpf_probe_read_kernel(&list, sizeof(list), &scm->fp);
	at = (u64)BPF_CORE_READ(msg, msg_control);
	end = at + READ(msg, msg_controllen);
	for (int i = 0; i < MAX_CMSGS; i++) {
		struct cmsg c = {};
		u32 n;

		if (at + sizeof(c) > end || bpf_probe_read_kernel(&c, sizeof(c), (void *)at) || c.len < sizeof(c))
			break;
		n = cmsg_fds(&c);
		if (n)
			scm_files(sk, list, at + sizeof(c), first, n);
		first += n;
		at += cmsg_space(c.len);
	}
	return 0;
}

/* scm_number is scm_row for a descriptor of this process. */
__attribute__((noinline)) int scm_number(u64 sock, int fd, u64 place)
{
	struct file *f = fd_file(fd);

	return f ? scm_row(sock, (u64)f, fd, place) : 0;
}

/* scm_numbers makes the rows of n descriptors of this process whose numbers are in its
 * memory. */
__attribute__((noinline)) int scm_numbers(u64 sock, u64 data, u64 n, u64 place)
{
	for (u64 i = 0; i < SCM_MAX_FD; i++) {
		int fd = -1;

		if (i >= n)
			break;
		bpf_probe_read_user(&fd, sizeof(fd), (void *)(data + i * sizeof(fd)));
		scm_number(sock, fd, place + PLACE(0, i, 0));
	}
	return 0;
}

SEC("fentry/scm_detach_fds")
int BPF_PROG(scm_fd_recv_fentry, struct msghdr *msg, struct scm_cookie *scm)
{
	return detach_enter(EV_scm_fd, msg, scm);
}

SEC("fexit/scm_detach_fds")
int BPF_PROG(scm_fd_recv_fexit, struct msghdr *msg, struct scm_cookie *scm)
{
	struct call *call = call_of(EV_scm_fd);
	struct sock *sk;
	u64 data = 0;
	u32 n;

	if (!call)
		return 0;
	n = detached(call, msg, &data);
	sk = fd_sock(CALL_ARG1(task_regs()));
	if (n && want_fd(sk, fd_netns(sk)))
		scm_numbers(as_number(sk), data, n, PLACE(DIR_RECV, 0, call->arg[1]));
	call_end(EV_scm_fd);
	return 0;
}

/* next_cmsg reads the control message at a place in the caller's memory, gives the number
 * of descriptors in it and goes on to the next one. */
static __always_inline u32 next_cmsg(u64 *at, u64 end, u64 *data)
{
	struct cmsg c = {};

	if (*at + sizeof(c) > end || bpf_probe_read_user(&c, sizeof(c), (void *)*at) || c.len < sizeof(c)) {
		*at = end;
		return 0;
	}
	*data = *at + sizeof(c);
	*at += cmsg_space(c.len);
	return cmsg_fds(&c);
}

/* The same from the caller's memory, when sendmsg(2) or recvmsg(2) has returned. How many
 * descriptors a message had that a receiver had no room for, is not known there. */
static __always_inline int msg_exit(s64 ret, const u8 dir)
{
	struct pt_regs *regs = task_regs();
	u64 at, end, data = 0, first = 0, count = 0;
	struct user_msg msg = {};
	struct sock *sk;

	if (ret < 0 || !want_task() || bpf_probe_read_user(&msg, sizeof(msg), (void *)CALL_ARG2(regs)))
		return 0;
	if (!msg.control || msg.controllen < sizeof(struct cmsg))
		return 0;
	sk = fd_sock(CALL_ARG1(regs));
	if (!sk || READ(sk, __sk_common.skc_family) != AF_UNIX || !want_fd(sk, fd_netns(sk)))
		return 0;
	end = (u64)msg.control + msg.controllen;
	at = (u64)msg.control;
	for (int i = 0; i < MAX_CMSGS; i++)
		count += next_cmsg(&at, end, &data);
	at = (u64)msg.control;
	for (int i = 0; i < MAX_CMSGS; i++) {
		u32 n = next_cmsg(&at, end, &data);

		if (n)
			scm_numbers(as_number(sk), data, n, PLACE(dir, first, dir == DIR_SEND ? count : -1));
		first += n;
	}
	return 0;
}

SEC("tp/syscalls/sys_exit_sendmsg")
int scm_fd_sendmsg_exit(struct trace_event_raw_sys_exit *ctx)
{
	return msg_exit(ctx->ret, DIR_SEND);
}

SEC("tp/syscalls/sys_exit_recvmsg")
int scm_fd_recvmsg_exit(struct trace_event_raw_sys_exit *ctx)
{
	return msg_exit(ctx->ret, DIR_RECV);
}
