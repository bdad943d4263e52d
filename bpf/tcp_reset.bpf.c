//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "again.h"
#include "packet.h"

#define RST_REASON_UNKNOWN -1

/* Either pointer may be NULL: resets also answer packets that no socket wanted, and
 * a socket resets by itself. */
static __always_inline int tcp_reset(struct sock *sk, struct sk_buff *skb, s32 reason, const u8 dir)
{
	u32 netns = skb_netns(skb, sk);
	struct sock *full = full_sock(sk);
	struct tcp_reset *r;
	TUPLE(t);

	/* A listener has no other end; the packet that it answers has. */
	if (sk && !(skb && READ(sk, __sk_common.skc_state) == TCP_LISTEN))
		fill_tuple(&t, sk, false);
	else
		packet_tuple(&t, skb);
	if (!want_tcp(&t, sk, netns))
		return 0;
	r = BEGIN_FLOOD(tcp_reset, full, skb, netns);
	if (!r)
		return 0;
	r->tuple = t;
	r->cookie = full ? cookie(full, false) : 0;
	r->rst_reason = reason;
	r->state = sk ? READ(sk, __sk_common.skc_state) : 0;
	r->dir = dir;
	SUBMIT(r);
	return 0;
}

static __always_inline int reset_sent(u64 *ctx, s32 reason, const bool again)
{
	u64 sk = raw_arg(ctx, 0), skb = raw_arg(ctx, 1);

	if (again && !missed_first(EV_tcp_reset, sk + skb))
		return 0;
	if (!again)
		first_run(EV_tcp_reset, sk + skb);
	return tcp_reset((void *)sk, (void *)skb, reason, DIR_SEND);
}

SEC("tp_btf/tcp_send_reset")
int tcp_reset_sent_tp3(u64 *ctx)
{
	return reset_sent(ctx, raw_arg(ctx, 2), false);
}

SEC("tp_btf/tcp_send_reset")
int tcp_reset_sent_tp3_again(u64 *ctx)
{
	return reset_sent(ctx, raw_arg(ctx, 2), true);
}

SEC("tp_btf/tcp_send_reset")
int tcp_reset_sent_tp2(u64 *ctx)
{
	return reset_sent(ctx, RST_REASON_UNKNOWN, false);
}

SEC("tp_btf/tcp_send_reset")
int tcp_reset_sent_tp2_again(u64 *ctx)
{
	return reset_sent(ctx, RST_REASON_UNKNOWN, true);
}

/* Kernels whose tracepoint gives no reason do not call it without a whole socket; the
 * function that sends such a reset answers no reset with another. */
static __always_inline int reset_nobody(u64 *ctx)
{
	struct sock *sk = (void *)raw_arg(ctx, 0);
	struct sk_buff *skb = (void *)raw_arg(ctx, 1);
	struct headers h = {};

	if (full_sock(sk))
		return 0;
	read_headers(&h, network_header(skb), bpf_ntohs(READ(skb, protocol)));
	if (h.flags & 4) /* RST */
		return 0;
	return tcp_reset(sk, skb, RST_REASON_UNKNOWN, DIR_SEND);
}

SEC("fentry/tcp_v4_send_reset")
int tcp_reset_nobody4(u64 *ctx)
{
	return reset_nobody(ctx);
}

SEC("fentry/tcp_v6_send_reset")
int tcp_reset_nobody6(u64 *ctx)
{
	return reset_nobody(ctx);
}

SEC("tp_btf/tcp_receive_reset")
int BPF_PROG(tcp_reset_received_tp, struct sock *sk)
{
	first_run(EV_tcp_reset, (u64)sk);
	return tcp_reset(sk, 0, RST_REASON_UNKNOWN, DIR_RECV);
}

SEC("tp_btf/tcp_receive_reset")
int BPF_PROG(tcp_reset_received_tp_again, struct sock *sk)
{
	return missed_first(EV_tcp_reset, (u64)sk) ? tcp_reset(sk, 0, RST_REASON_UNKNOWN, DIR_RECV) : 0;
}
