//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "budget.h"
#include "packet.h"

static __always_inline int udp_msg(struct sock *sk, struct msghdr *msg, u64 size, s32 flags, s32 ret, const u8 func)
{
	const bool send = func == FUNC_UDP_SENDMSG || func == FUNC_UDPV6_SENDMSG;
	u32 netns = sock_netns(sk, true);
	struct udp_msg *r;
	u64 addr[2];
	u16 port, family;

	/* An IPv6 socket's datagram to an IPv4 address goes on in the IPv4 function. */
	if (func == FUNC_UDP_SENDMSG && sk->__sk_common.skc_family == AF_INET6)
		return 0;
	/* A socket without a peer has one in each message. */
	read_sockaddr(FILTER_ENDS && (send || ret >= 0) ? msg->msg_name : 0, (u8 *)addr, &port, &family);
	if (!want_peer(sk, netns, (u8 *)addr, port, family) || !hot_row(EV_udp_msg, sk, true))
		return 0;
	r = BEGIN(udp_msg, sk, 0, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, true);
	r->cookie = cookie(sk, true);
	r->asked_bytes = size;
	r->ret = ret;
	read_sockaddr(send ? msg->msg_name : 0, r->dest_addr, &r->dest_port, &r->dest_fam);
	read_sockaddr(send || ret < 0 ? 0 : msg->msg_name, r->peer_addr, &r->peer_port, &r->peer_fam);
	r->msg_flags = flags;
	r->func = func;
	r->dir = send ? DIR_SEND : DIR_RECV;
	SUBMIT(r);
	return 0;
}

SEC("fexit/udp_sendmsg")
int BPF_PROG(udp_msg_send4_fexit, struct sock *sk, struct msghdr *msg, u64 size, int ret)
{
	return udp_msg(sk, msg, size, msg->msg_flags, ret, FUNC_UDP_SENDMSG);
}

SEC("fexit/udpv6_sendmsg")
int BPF_PROG(udp_msg_send6_fexit, struct sock *sk, struct msghdr *msg, u64 size, int ret)
{
	return udp_msg(sk, msg, size, msg->msg_flags, ret, FUNC_UDPV6_SENDMSG);
}

SEC("fexit/udp_recvmsg")
int BPF_PROG(udp_msg_recv4_fexit6, struct sock *sk, struct msghdr *msg, u64 size, int nonblock, int flags,
	     int *addr_len, int ret)
{
	return udp_msg(sk, msg, size, flags, ret, FUNC_UDP_RECVMSG);
}

SEC("fexit/udpv6_recvmsg")
int BPF_PROG(udp_msg_recv6_fexit6, struct sock *sk, struct msghdr *msg, u64 size, int nonblock, int flags,
	     int *addr_len, int ret)
{
	return udp_msg(sk, msg, size, flags, ret, FUNC_UDPV6_RECVMSG);
}

SEC("fexit/udp_recvmsg")
int BPF_PROG(udp_msg_recv4_fexit5, struct sock *sk, struct msghdr *msg, u64 size, int flags, int *addr_len, int ret)
{
	return udp_msg(sk, msg, size, flags, ret, FUNC_UDP_RECVMSG);
}

SEC("fexit/udpv6_recvmsg")
int BPF_PROG(udp_msg_recv6_fexit5, struct sock *sk, struct msghdr *msg, u64 size, int flags, int *addr_len, int ret)
{
	return udp_msg(sk, msg, size, flags, ret, FUNC_UDPV6_RECVMSG);
}

SEC("fexit/udp_recvmsg")
int BPF_PROG(udp_msg_recv4_fexit4, struct sock *sk, struct msghdr *msg, u64 size, int flags, int ret)
{
	return udp_msg(sk, msg, size, flags, ret, FUNC_UDP_RECVMSG);
}

SEC("fexit/udpv6_recvmsg")
int BPF_PROG(udp_msg_recv6_fexit4, struct sock *sk, struct msghdr *msg, u64 size, int flags, int ret)
{
	return udp_msg(sk, msg, size, flags, ret, FUNC_UDPV6_RECVMSG);
}
