//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "budget.h"

/* What the socket keeps of a segment, without reading its header. */
static __always_inline u32 segment(struct sk_buff *skb, const u32 offset, const bool direct)
{
	u32 v = 0;

	if (direct)
		return *(u32 *)(skb->cb + offset);
	bpf_probe_read_kernel(&v, sizeof(v), (void *)__builtin_preserve_access_index(&skb->cb) + offset);
	return v;
}

/* A SYN or FIN takes a sequence number and is no data. A header has a multiple of four
 * bytes, so that what is left of the length tells. */
static __always_inline void fill_segment(struct tcp_rcv_est *r, struct sk_buff *skb, u32 rcv_nxt, const bool direct)
{
	u32 seq = segment(skb, bpf_core_field_offset(struct tcp_skb_cb, seq), direct);
	u32 span = segment(skb, bpf_core_field_offset(struct tcp_skb_cb, end_seq), direct) - seq;

	r->payload_bytes = span - ((K(skb, len) - span) % 4 == 3);
	r->acked_bytes = segment(skb, bpf_core_field_offset(struct tcp_skb_cb, ack_seq), direct) - r->snd_una;
	r->seq_gap_bytes = seq - rcv_nxt;
}

static __always_inline int tcp_rcv_est(struct sock *sk, struct sk_buff *skb, const bool direct)
{
	u32 netns = sock_netns(sk, direct);
	struct tcp_sock *tp = tcp_sk(sk, direct);
	struct tcp_rcv_est *r;
	u32 rcv_nxt;

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
	r->rtt_min_us = K(tp, rtt_min.s[0].v);
	rcv_nxt = K(tp, rcv_nxt);
	r->out_bytes = (u32)K(tp, bytes_acked) + r->snd_nxt - r->snd_una;
	r->in_bytes = (u32)K(tp, bytes_received);
	r->unread_bytes = rcv_nxt - K(tp, copied_seq);
	r->unsent_bytes = K(tp, write_seq) - r->snd_nxt;
	r->mss_bytes = K(tp, mss_cache);
	r->ca_state = ca_state(tp, direct);
	fill_segment(r, skb, rcv_nxt, direct);
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
