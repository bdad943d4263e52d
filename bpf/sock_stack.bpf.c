//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "budget.h"

/* The hooks are those of sock_io, so that one has a row where the other has. */
static __always_inline int sock_stack(void *ctx, struct sock *sk, const u8 dir, s64 ret, s32 flags, const bool direct)
{
	u32 netns = sock_netns(sk, direct);
	struct sock_stack *r;
	struct proto *prot;

	if (!want_sock(sk, netns) || !hot_row(EV_sock_stack, sk, direct))
		return 0;
	r = BEGIN(sock_stack, sk, 0, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, direct);
	r->cookie = cookie(sk, direct);
	r->ret = (s32)ret;
	r->msg_flags = flags;
	r->protocol = K(sk, sk_protocol);
	r->dir = dir;
	prot = K(sk, __sk_common.skc_prot);
	bpf_probe_read_kernel(r->prot_name, sizeof(r->prot_name), &prot->name);
	FILL_STACK(r->ustack, BPF_F_USER_STACK);
	SUBMIT_STACK(r);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(sock_stack_send_tp, struct sock *sk, int ret, int flags)
{
	return sock_stack(ctx, sk, DIR_SEND, ret, -1, true); /* flags is always 0 on this one */
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(sock_stack_recv_tp, struct sock *sk, int ret, int flags)
{
	return sock_stack(ctx, sk, DIR_RECV, ret, flags, true);
}

SEC("fexit/__sock_sendmsg")
int BPF_PROG(sock_stack_send_fexit, struct socket *sock, struct msghdr *msg, int ret)
{
	return BELOW_SOCK_SENDMSG(ctx) ? 0 : sock_stack(ctx, sock->sk, DIR_SEND, ret, msg->msg_flags, true);
}

SEC("fexit/sock_sendmsg")
int BPF_PROG(sock_stack_sendmsg_fexit, struct socket *sock, struct msghdr *msg, int ret)
{
	return sock_stack(ctx, sock->sk, DIR_SEND, ret, msg->msg_flags, true);
}

SEC("fexit/sock_sendpage")
int BPF_PROG(sock_stack_sendpage_fexit, struct file *file, void *page, int offset, u64 size, void *ppos, int more, s64 ret)
{
	struct socket *sock = READ(file, private_data);

	return sock_stack(ctx, READ(sock, sk), DIR_SEND, ret, -1, false);
}

SEC("fexit/inet_recvmsg")
int BPF_PROG(sock_stack_inet_recv_fexit, struct socket *sock, struct msghdr *msg, u64 size, int flags, int ret)
{
	return sock_stack(ctx, sock->sk, DIR_RECV, ret, flags, true);
}

SEC("fexit/inet6_recvmsg")
int BPF_PROG(sock_stack_inet6_recv_fexit, struct socket *sock, struct msghdr *msg, u64 size, int flags, int ret)
{
	return sock_stack(ctx, sock->sk, DIR_RECV, ret, flags, true);
}

SEC("fexit/sock_common_recvmsg")
int BPF_PROG(sock_stack_raw_recv_fexit, struct socket *sock, struct msghdr *msg, u64 size, int flags, int ret)
{
	if (!is_inet(sock->sk->__sk_common.skc_family))
		return 0;
	return sock_stack(ctx, sock->sk, DIR_RECV, ret, flags, true);
}

SEC("fexit/sock_recvmsg")
int BPF_PROG(sock_stack_other_recv_fexit, struct socket *sock, struct msghdr *msg, int flags, int ret)
{
	if (is_inet(sock->sk->__sk_common.skc_family))
		return 0;
	return sock_stack(ctx, sock->sk, DIR_RECV, ret, flags, true);
}
