//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "share.h"

/* What is held back for a reason of its own: nothing is in flight, or less than a segment
 * waits. More than that in a stream waits for ACKs, at nearly every attempt. */
static __always_inline bool holds_back(struct tcp_sock *tp, s64 ret, const bool direct)
{
	u32 queued = K(tp, write_seq) - K(tp, snd_nxt);

	return ret || (queued && queued < K(tp, mss_cache));
}

static __always_inline int tcp_write_xmit(struct sock *sk, int nonagle, int push_one, s64 ret, const bool direct)
{
	struct tcp_write_xmit *r;
	struct tcp_sock *tp;
	u32 netns;

	tp = tcp_sk(sk, direct);
	if (!tp || !share_attempt(sk, holds_back(tp, ret, direct), direct))
		return 0;
	netns = sock_netns(sk, direct);
	if (!want_sock(sk, netns))
		return 0;
	r = BEGIN(tcp_write_xmit, sk, 0, netns);
	if (!r)
		return 0;
	r->cookie = cookie(sk, direct);
	r->snd_una = K(tp, snd_una);
	r->snd_nxt = K(tp, snd_nxt);
	r->write_seq = K(tp, write_seq);
	r->snd_wnd = K(tp, snd_wnd);
	r->snd_cwnd = K(tp, snd_cwnd);
	r->packets_out = K(tp, packets_out);
	r->mss_bytes = K(tp, mss_cache);
	r->sk_wmem_queued = K(sk, sk_wmem_queued);
	r->ret = ret;
	r->nonagle = nonagle;
	r->push_one = push_one;
	SUBMIT(r);
	return 0;
}

SEC("fexit/tcp_write_xmit")
int BPF_PROG(tcp_write_xmit_fexit, struct sock *sk, unsigned int mss_now, int nonagle, int push_one, unsigned int gfp,
	     u64 ret)
{
	return tcp_write_xmit(sk, nonagle, push_one, is_true(ret), true);
}

SEC("kprobe/tcp_write_xmit")
int BPF_KPROBE(tcp_write_xmit_kprobe, struct sock *sk, unsigned int mss_now, int nonagle, int push_one)
{
	struct call call = {};

	call.arg[0] = (u64)sk;
	call.arg[1] = nonagle;
	call.arg[2] = push_one;
	return call_start(EV_tcp_write_xmit, &call);
}

SEC("kretprobe/tcp_write_xmit")
int BPF_KRETPROBE(tcp_write_xmit_kretprobe, u64 ret)
{
	struct call *call = call_of(EV_tcp_write_xmit);

	if (!call)
		return 0;
	/* bool lives in the low byte, the rest of the register is anything */
	tcp_write_xmit((void *)call->arg[0], call->arg[1], call->arg[2], is_true(ret), false);
	call_end(EV_tcp_write_xmit);
	return 0;
}
