//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "netrec.h"

/* The function may find that it has nothing to do. It sent a probe if it set the mark
 * that one is under way, which needs a look before and one after. */
static __always_inline int tlp_start(struct sock *sk)
{
	struct call call = {};

	call.arg[0] = (u64)sk;
	call.arg[1] = READ((struct tcp_sock *)sk, tlp_high_seq);
	call.arg[2] = READ((struct tcp_sock *)sk, total_retrans);
	return call_start(EV_tcp_tlp, &call);
}

static __always_inline int tcp_tlp(struct call *call)
{
	struct sock *sk = (void *)call->arg[0];
	struct tcp_sock *tp = (void *)sk;
	u32 netns = sock_netns(sk, false);
	struct tcp_tlp *r;

	if (!want_sock(sk, netns))
		return 0;
	r = BEGIN(tcp_tlp, sk, 0, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, false);
	r->cookie = cookie(sk, false);
	r->snd_una = READ(tp, snd_una);
	r->snd_nxt = READ(tp, snd_nxt);
	r->snd_cwnd = READ(tp, snd_cwnd);
	r->packets_out = READ(tp, packets_out);
	r->retrans_segs = READ(tp, total_retrans) - (u32)call->arg[2];
	r->probe_sent = !call->arg[1] && READ(tp, tlp_high_seq);
	r->state = READ(sk, __sk_common.skc_state);
	r->ca_state = ca_state(tp, false);
	r->retrans_kind = RETRANS_KIND_L;
	SUBMIT(r);
	return 0;
}

static __always_inline int tlp_end(void)
{
	struct call *call = call_of(EV_tcp_tlp);

	if (!call)
		return 0;
	tcp_tlp(call);
	call_end(EV_tcp_tlp);
	return 0;
}

SEC("fentry/tcp_send_loss_probe")
int BPF_PROG(tcp_tlp_fentry, struct sock *sk)
{
	return tlp_start(sk);
}

SEC("fexit/tcp_send_loss_probe")
int BPF_PROG(tcp_tlp_fexit, struct sock *sk)
{
	return tlp_end();
}

SEC("kprobe/tcp_send_loss_probe")
int BPF_KPROBE(tcp_tlp_kprobe, struct sock *sk)
{
	return tlp_start(sk);
}

SEC("kretprobe/tcp_send_loss_probe")
int BPF_KRETPROBE(tcp_tlp_kretprobe)
{
	return tlp_end();
}
