//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "netrec.h"

static __always_inline int udp_gone(struct sock *sk)
{
	u32 netns = sock_netns(sk, false);
	struct udp_gone *r;

	if (!want_sock(sk, netns))
		return 0;
	r = BEGIN(udp_gone, sk, 0, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, false);
	r->cookie = cookie(sk, false);
	SUBMIT(r);
	return 0;
}

SEC("fentry/udp_destroy_sock")
int BPF_PROG(udp_gone4_fentry, struct sock *sk)
{
	return udp_gone(sk);
}

SEC("fentry/udpv6_destroy_sock")
int BPF_PROG(udp_gone6_fentry, struct sock *sk)
{
	return udp_gone(sk);
}

SEC("kprobe/udp_destroy_sock")
int BPF_KPROBE(udp_gone4_kprobe, struct sock *sk)
{
	return udp_gone(sk);
}

SEC("kprobe/udpv6_destroy_sock")
int BPF_KPROBE(udp_gone6_kprobe, struct sock *sk)
{
	return udp_gone(sk);
}
