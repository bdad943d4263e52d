//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "packet.h"

/* Every SYN that reaches a listener, also those that its queues then have no room for. */
static __always_inline int tcp_syn_arrive(struct sock *sk, struct sk_buff *skb)
{
	u32 netns = sock_netns(sk, false);
	struct tcp_syn_arrive *r;
	TUPLE(t);

	packet_tuple(&t, skb);
	if (!want_tcp(&t, sk, netns))
		return 0;
	r = BEGIN_FLOOD(tcp_syn_arrive, sk, skb, netns);
	if (!r)
		return 0;
	r->tuple = t;
	r->cookie = cookie(sk, false);
	r->sk_ack_backlog = READ(sk, sk_ack_backlog);
	r->sk_max_ack_backlog = READ(sk, sk_max_ack_backlog);
	r->req_queue_len = READ((struct inet_connection_sock *)sk, icsk_accept_queue.qlen.counter);
	SUBMIT(r);
	return 0;
}

SEC("fentry/tcp_conn_request")
int BPF_PROG(tcp_syn_arrive_fentry, void *ops, void *af_ops, struct sock *sk, struct sk_buff *skb)
{
	return tcp_syn_arrive(sk, skb);
}

SEC("kprobe/tcp_conn_request")
int BPF_KPROBE(tcp_syn_arrive_kprobe, void *ops, void *af_ops, struct sock *sk, struct sk_buff *skb)
{
	return tcp_syn_arrive(sk, skb);
}
