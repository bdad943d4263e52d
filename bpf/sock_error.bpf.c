//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "again.h"

/* Without an error the kernel reports a message in the socket's error queue, such as the time
 * at which a packet was sent. */
static __always_inline int sock_error(struct sock *sk)
{
	const bool direct = true;
	u32 netns = sock_netns(sk, direct);
	struct sock_error *r;
	int err = sk->sk_err;

	if (!err || !want_sock(sk, netns))
		return 0;
	r = BEGIN_FLOOD(sock_error, sk, 0, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, direct);
	r->cookie = cookie(sk, direct);
	r->sk_err = err;
	r->sock_type = sk->sk_type;
	r->protocol = sk->sk_protocol;
	r->state = sk->__sk_common.skc_state;
	SUBMIT(r);
	return 0;
}

SEC("tp_btf/inet_sk_error_report")
int BPF_PROG(sock_error_tp, struct sock *sk)
{
	first_run(EV_sock_error, (u64)sk);
	return sock_error(sk);
}

SEC("tp_btf/inet_sk_error_report")
int BPF_PROG(sock_error_tp_again, struct sock *sk)
{
	return missed_first(EV_sock_error, (u64)sk) ? sock_error(sk) : 0;
}
