//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "again.h"

/* The tracepoint comes before the change, so the socket still has the old state. */
static __always_inline int tcp_cong_state(struct sock *sk, u8 state, const bool direct)
{
	u32 netns = sock_netns(sk, direct);
	struct tcp_sock *tp = tcp_sk(sk, direct);
	struct tcp_cong_state *r;

	if (!tp || !want_sock(sk, netns))
		return 0;
	r = BEGIN_FLOOD(tcp_cong_state, sk, 0, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, direct);
	r->cookie = cookie(sk, direct);
	r->snd_una = K(tp, snd_una);
	r->snd_nxt = K(tp, snd_nxt);
	r->snd_cwnd = K(tp, snd_cwnd);
	r->snd_ssthresh = K(tp, snd_ssthresh);
	r->packets_out = K(tp, packets_out);
	r->retrans_out = K(tp, retrans_out);
	r->lost_out = K(tp, lost_out);
	r->sacked_out = K(tp, sacked_out);
	r->old_ca_state = ca_state(tp, direct);
	r->ca_state = state;
	SUBMIT(r);
	return 0;
}

SEC("tp_btf/tcp_cong_state_set")
int BPF_PROG(tcp_cong_state_tp, struct sock *sk, u8 state)
{
	first_run(EV_tcp_cong_state, (u64)sk);
	return tcp_cong_state(sk, state, true);
}

SEC("tp_btf/tcp_cong_state_set")
int BPF_PROG(tcp_cong_state_tp_again, struct sock *sk, u8 state)
{
	return missed_first(EV_tcp_cong_state, (u64)sk) ? tcp_cong_state(sk, state, true) : 0;
}
