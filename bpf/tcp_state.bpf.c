//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "again.h"
#include "connects.h"

/* Length of a jiffy, in which the kernel keeps its accounts of what it waited for. */
const volatile u32 cfg_tick_us = 0;

/* tcp_chrono of the kernel, less one: busy and nothing in the way, held back by the peer's
 * window, by a full send buffer. */
static __always_inline void fill_waits(struct tcp_state *r, struct tcp_sock *tp, const bool direct)
{
	u32 rwnd = K(tp, chrono_stat[1]) * cfg_tick_us, sndbuf = K(tp, chrono_stat[2]) * cfg_tick_us;

	r->busy_us = K(tp, chrono_stat[0]) * cfg_tick_us + rwnd + sndbuf;
	r->rwnd_limited_us = rwnd;
	r->sndbuf_limited_us = sndbuf;
	r->delivered = K(tp, delivered);
	r->reordering = K(tp, reordering);
}

/* Before there is a connection its sequence numbers are those of another one, or of the
 * listener. */
static __always_inline bool has_positions(struct tcp_state *r)
{
	return r->protocol == IPPROTO_TCP && r->new_state != TCP_SYN_SENT && r->new_state != TCP_SYN_RECV &&
	       r->new_state != TCP_LISTEN && r->old_state != TCP_LISTEN;
}

static __always_inline void fill_totals(struct tcp_state *r, struct sock *sk, const bool direct)
{
	struct tcp_sock *tp = tcp_sk(sk, direct);

	fill_positions(&r->positions, has_positions(r) ? tp : 0, direct);
	r->snd_nxt = r->rcv_nxt = -1;
	if (tp && has_positions(r) && r->new_state == TCP_ESTABLISHED) {
		r->snd_nxt = K(tp, snd_nxt);
		r->rcv_nxt = K(tp, rcv_nxt);
	}
	r->busy_us = r->rwnd_limited_us = r->sndbuf_limited_us = r->delivered = r->reordering = -1;
	r->bytes_acked = r->bytes_received = r->segs_in = r->segs_out = r->total_retrans = -1;
	r->srtt_us = -1;
	r->tcp_flags = 0;
	if (!tp || r->protocol != IPPROTO_TCP || r->new_state != TCP_CLOSE)
		return;
	r->bytes_acked = K(tp, bytes_acked);
	r->bytes_received = K(tp, bytes_received);
	r->segs_in = K(tp, segs_in);
	r->segs_out = K(tp, segs_out);
	r->total_retrans = K(tp, total_retrans);
	r->srtt_us = K(tp, srtt_us) >> 3; /* kept eightfold */
	r->tcp_flags = peer_finished(sk, direct); /* FIN is the lowest bit */
	fill_waits(r, tp, direct);
}

static __always_inline int tcp_state(struct sock *sk, int oldstate, int newstate, u8 ctx, const bool direct)
{
	u32 netns = sock_netns(sk, direct);
	struct tcp_state *r;

	if (!want_change(sk, netns, oldstate, newstate))
		return 0;
	if (cfg_share && oldstate == TCP_SYN_SENT)
		connect_over(sk);
	r = BEGIN_IN(ctx, tcp_state, sk, 0, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, direct);
	r->cookie = cookie(sk, direct);
	/* A socket that was connected before has the port of that connection until it gets
	 * another one, and only then is skc_num set. */
	if (newstate == TCP_SYN_SENT)
		r->tuple.lport = K(sk, __sk_common.skc_num);
	r->sk_err = K(sk, sk_err);
	r->protocol = K(sk, sk_protocol);
	r->old_state = oldstate;
	r->new_state = newstate;
	r->uid = newstate == TCP_SYN_SENT ? task_uid() : NO_UID;
	fill_totals(r, sk, direct);
	SUBMIT(r);
	return 0;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(tcp_state_tp, struct sock *sk, int oldstate, int newstate)
{
	return tcp_state(sk, oldstate, newstate, first_run(EV_tcp_state, (u64)sk), true);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(tcp_state_tp_again, struct sock *sk, int oldstate, int newstate)
{
	return missed_first(EV_tcp_state, (u64)sk) ? tcp_state(sk, oldstate, newstate, CTX_ASK, true) : 0;
}

SEC("fentry/tcp_set_state")
int BPF_PROG(tcp_state_fentry, struct sock *sk, int newstate)
{
	return tcp_state(sk, sk->__sk_common.skc_state, newstate, CTX_ASK, true);
}

SEC("kprobe/tcp_set_state")
int BPF_KPROBE(tcp_state_kprobe, struct sock *sk, int newstate)
{
	return tcp_state(sk, READ(sk, __sk_common.skc_state), newstate, CTX_ASK, false);
}
