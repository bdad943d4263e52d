//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "budget.h"

static __always_inline int tcp_msg(struct sock *sk, u64 size, s32 flags, s32 ret, const u8 dir)
{
	u32 netns = sock_netns(sk, true);
	struct tcp_msg *r;

	if (!want_sock(sk, netns) || !hot_row(EV_tcp_msg, sk, true))
		return 0;
	r = BEGIN(tcp_msg, sk, 0, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, true);
	r->cookie = cookie(sk, true);
	r->asked_bytes = size;
	r->ret = ret;
	r->msg_flags = flags;
	r->func = dir == DIR_SEND ? FUNC_TCP_SENDMSG : FUNC_TCP_RECVMSG;
	r->dir = dir;
	SUBMIT(r);
	return 0;
}

SEC("fexit/tcp_sendmsg")
int BPF_PROG(tcp_msg_send_fexit, struct sock *sk, struct msghdr *msg, u64 size, int ret)
{
	return tcp_msg(sk, size, msg->msg_flags, ret, DIR_SEND);
}

SEC("fexit/tcp_recvmsg")
int BPF_PROG(tcp_msg_recv_fexit6, struct sock *sk, struct msghdr *msg, u64 size, int nonblock, int flags, int *addr_len,
	     int ret)
{
	return tcp_msg(sk, size, flags, ret, DIR_RECV);
}

SEC("fexit/tcp_recvmsg")
int BPF_PROG(tcp_msg_recv_fexit5, struct sock *sk, struct msghdr *msg, u64 size, int flags, int *addr_len, int ret)
{
	return tcp_msg(sk, size, flags, ret, DIR_RECV);
}

SEC("fexit/tcp_recvmsg")
int BPF_PROG(tcp_msg_recv_fexit4, struct sock *sk, struct msghdr *msg, u64 size, int flags, int ret)
{
	return tcp_msg(sk, size, flags, ret, DIR_RECV);
}
