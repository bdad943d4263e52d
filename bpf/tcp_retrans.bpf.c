//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "again.h"

#define ERR_UNKNOWN -1 /* NULL in the file; the kernel's own errors never include EPERM here */

/* A loss probe that repeats data does so within tcp_send_loss_probe(), where that is hooked. */
static __always_inline u8 retrans_kind(struct sock *sk)
{
	struct call *probe = call_of(EV_tcp_tlp);

	return probe && probe->arg[0] == (u64)sk ? RETRANS_KIND_L : RETRANS_KIND_R;
}

static __always_inline int tcp_retrans(struct sock *sk, struct sk_buff *skb, int err, const bool direct)
{
	u32 netns = sock_netns(sk, direct);
	struct tcp_sock *tp = tcp_sk(sk, direct);
	struct tcp_retrans *r;

	if (!tp || !want_sock(sk, netns))
		return 0;
	r = BEGIN(tcp_retrans, sk, skb, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, direct);
	r->cookie = cookie(sk, direct);
	r->tcp_seq = READ((struct tcp_skb_cb *)&skb->cb[0], seq);
	r->len_bytes = K(skb, len);
	/* tcp_skb_pcount(), by which TCP itself counts retransmissions. */
	r->retrans_segs = READ((struct tcp_skb_cb *)&skb->cb[0], tcp_gso_segs);
	r->err = err;
	r->snd_cwnd = K(tp, snd_cwnd);
	r->state = K(sk, __sk_common.skc_state);
	r->ca_state = ca_state(tp, direct);
	r->retrans_kind = retrans_kind(sk);
	SUBMIT(r);
	return 0;
}

/* From 6.18 on every attempt is reported, with its result. */
SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(tcp_retrans_tp3, struct sock *sk, struct sk_buff *skb, int err)
{
	first_run(EV_tcp_retrans, (u64)skb);
	return tcp_retrans(sk, skb, err, true);
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(tcp_retrans_tp3_again, struct sock *sk, struct sk_buff *skb, int err)
{
	return missed_first(EV_tcp_retrans, (u64)skb) ? tcp_retrans(sk, skb, err, true) : 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(tcp_retrans_tp2, struct sock *sk, struct sk_buff *skb)
{
	first_run(EV_tcp_retrans, (u64)skb);
	return tcp_retrans(sk, skb, ERR_UNKNOWN, true);
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(tcp_retrans_tp2_again, struct sock *sk, struct sk_buff *skb)
{
	return missed_first(EV_tcp_retrans, (u64)skb) ? tcp_retrans(sk, skb, ERR_UNKNOWN, true) : 0;
}

SEC("fexit/__tcp_retransmit_skb")
int BPF_PROG(tcp_retrans_fexit, struct sock *sk, struct sk_buff *skb, int segs, int ret)
{
	return tcp_retrans(sk, skb, ret, true);
}

SEC("kprobe/__tcp_retransmit_skb")
int BPF_KPROBE(tcp_retrans_kprobe, struct sock *sk, struct sk_buff *skb)
{
	return tcp_retrans(sk, skb, ERR_UNKNOWN, false);
}
