//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "packet.h"

/* These two see every kind of datagram socket on every kernel. IPv6 hands IPv4 addresses
 * on to the IPv4 one, which is then left out. */
static __always_inline int udp_connect(struct sock *sk, const void *addr, s32 ret, const bool v4)
{
	u32 netns = sock_netns(sk, false);
	struct udp_connect *r;

	if (v4 && READ(sk, __sk_common.skc_family) == AF_INET6)
		return 0;
	if (!want_sock(sk, netns))
		return 0;
	r = BEGIN(udp_connect, sk, 0, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, false);
	r->cookie = cookie(sk, false);
	r->ret = ret;
	read_sockaddr(addr, r->dest_addr, &r->dest_port, &r->dest_fam);
	r->protocol = READ(sk, sk_protocol);
	SUBMIT(r);
	return 0;
}

SEC("fexit/__ip4_datagram_connect")
int BPF_PROG(udp_connect4_fexit, struct sock *sk, void *addr, int len, int ret)
{
	return udp_connect(sk, addr, ret, true);
}

SEC("fexit/__ip6_datagram_connect")
int BPF_PROG(udp_connect6_fexit, struct sock *sk, void *addr, int len, int ret)
{
	return udp_connect(sk, addr, ret, false);
}
