//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "packet.h"

/* A request begins like a socket, with the addresses of the connection to be. */
static __always_inline int tcp_synack_retrans(struct sock *sk, struct request_sock *req)
{
	u32 netns = sock_netns(sk, false);
	struct tcp_synack_retrans *r;
	TUPLE(t);

	fill_tuple(&t, (struct sock *)req, false);
	if (!want_tcp(&t, (struct sock *)req, netns))
		return 0;
	r = BEGIN(tcp_synack_retrans, sk, 0, netns);
	if (!r)
		return 0;
	r->tuple = t;
	r->cookie = cookie(sk, false);
	r->request = (u64)req;
	r->num_retrans = READ(req, num_retrans);
	r->state = READ(req, __req_common.skc_state);
	r->retrans_kind = RETRANS_KIND_S;
	SUBMIT(r);
	return 0;
}

SEC("tp_btf/tcp_retransmit_synack")
int BPF_PROG(tcp_synack_retrans_tp, struct sock *sk, struct request_sock *req)
{
	return tcp_synack_retrans(sk, req);
}
