//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "again.h"

static __always_inline int rcvqueue_full(struct sock *sk, struct sk_buff *skb, const u8 func)
{
	const bool direct = true;
	u32 netns = sock_netns(sk, direct);
	struct sock_rcvqueue_full *r;

	if (!want_sock(sk, netns))
		return 0;
	r = BEGIN_FLOOD(sock_rcvqueue_full, sk, skb, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, direct);
	r->cookie = cookie(sk, direct);
	r->sk_rmem_alloc = sk->sk_backlog.rmem_alloc.counter;
	r->sk_rcvbuf = sk->sk_rcvbuf;
	r->truesize_bytes = skb ? skb->truesize : 0;
	r->sock_type = sk->sk_type;
	r->protocol = sk->sk_protocol;
	r->func = func;
	SUBMIT(r);
	return 0;
}

SEC("tp_btf/sock_rcvqueue_full")
int BPF_PROG(sock_rcvqueue_full_tp, struct sock *sk, struct sk_buff *skb)
{
	first_run(EV_sock_rcvqueue_full, (u64)skb);
	return rcvqueue_full(sk, skb, FUNC_SOCK_QUEUE_RCV_SKB);
}

SEC("tp_btf/sock_rcvqueue_full")
int BPF_PROG(sock_rcvqueue_full_tp_again, struct sock *sk, struct sk_buff *skb)
{
	return missed_first(EV_sock_rcvqueue_full, (u64)skb) ? rcvqueue_full(sk, skb, FUNC_SOCK_QUEUE_RCV_SKB) : 0;
}

/* UDP has a queue of its own and tells by a tracepoint of its own, since 6.10 with the packet.
 * Other refusals than for want of room are of memory, see sock_exceed_buf_limit. */
#define ENOMEM 12

SEC("tp_btf/udp_fail_queue_rcv_skb")
int BPF_PROG(sock_rcvqueue_full_udp3, int rc, struct sock *sk, struct sk_buff *skb)
{
	return rc == -ENOMEM ? rcvqueue_full(sk, skb, FUNC_UDP_QUEUE_RCV_SKB) : 0;
}

SEC("tp_btf/udp_fail_queue_rcv_skb")
int BPF_PROG(sock_rcvqueue_full_udp2, int rc, struct sock *sk)
{
	return rc == -ENOMEM ? rcvqueue_full(sk, 0, FUNC_UDP_QUEUE_RCV_SKB) : 0;
}
