//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "budget.h"

static __always_inline int tcp_rcv_est(struct sock *sk, struct sk_buff *skb, const bool direct)
{
	u32 netns = sock_netns(sk, direct);
	struct tcp_sock *tp = tcp_sk(sk, direct);
	struct tcp_rcv_est *r;

	if (!tp || !want_sock(sk, netns) || !hot_row(EV_tcp_rcv_est, sk, direct))
		return 0;
	r = BEGIN(tcp_rcv_est, sk, skb, netns);
	if (!r)
		return 0;
	r->cookie = cookie(sk, direct);
	r->snd_una = K(tp, snd_una);
	r->snd_nxt = K(tp, snd_nxt);
	r->snd_wnd = K(tp, snd_wnd);
	r->rcv_wnd = K(tp, rcv_wnd);
	r->snd_cwnd = K(tp, snd_cwnd);
	r->snd_ssthresh = K(tp, snd_ssthresh);
	r->sk_sndbuf = K(sk, sk_sndbuf);
	r->sk_wmem_queued = K(sk, sk_wmem_queued);
	r->sk_rmem_alloc = K(sk, sk_backlog.rmem_alloc.counter);
	r->packets_out = K(tp, packets_out);
	r->srtt_us = K(tp, srtt_us) >> 3; /* kept eightfold */
	r->ca_state = ca_state(tp, direct);
	SUBMIT(r);
	return 0;
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(tcp_rcv_est_tp, struct sock *sk, struct sk_buff *skb)
{
	return tcp_rcv_est(sk, skb, true);
}

SEC("fentry/tcp_rcv_established")
int BPF_PROG(tcp_rcv_est_fentry, struct sock *sk, struct sk_buff *skb)
{
	return tcp_rcv_est(sk, skb, true);
}

SEC("kprobe/tcp_rcv_established")
int BPF_KPROBE(tcp_rcv_est_kprobe, struct sock *sk, struct sk_buff *skb)
{
	return tcp_rcv_est(sk, skb, false);
}
