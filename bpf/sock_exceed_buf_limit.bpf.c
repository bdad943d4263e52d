//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "again.h"

static __always_inline int exceed_buf_limit(struct sock *sk, struct proto *prot, long allocated, int kind)
{
	const bool direct = true;
	u32 netns = sock_netns(sk, direct);
	struct sock_exceed_buf_limit *r;
	long limits[3] = {-1, -1, -1};

	if (!want_sock(sk, netns))
		return 0;
	r = BEGIN_FLOOD(sock_exceed_buf_limit, sk, 0, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, direct);
	r->cookie = cookie(sk, direct);
	r->mem_allocated_pages = allocated;
	bpf_probe_read_kernel(limits, sizeof(limits), READ(prot, sysctl_mem));
	r->mem_min_pages = limits[0];
	r->mem_pressure_pages = limits[1];
	r->mem_max_pages = limits[2];
	r->sk_rmem_alloc = sk->sk_backlog.rmem_alloc.counter;
	r->sk_rcvbuf = sk->sk_rcvbuf;
	r->sk_wmem_alloc = sk->sk_wmem_alloc.refs.counter;
	r->sk_wmem_queued = sk->sk_wmem_queued;
	r->sk_sndbuf = sk->sk_sndbuf;
	r->protocol = sk->sk_protocol;
	r->dir = kind ? DIR_RECV : DIR_SEND;
	bpf_probe_read_kernel(r->prot_name, sizeof(r->prot_name), &prot->name);
	SUBMIT(r);
	return 0;
}

SEC("tp_btf/sock_exceed_buf_limit")
int BPF_PROG(sock_exceed_buf_limit_tp, struct sock *sk, struct proto *prot, long allocated, int kind)
{
	first_run(EV_sock_exceed_buf_limit, (u64)sk);
	return exceed_buf_limit(sk, prot, allocated, kind);
}

SEC("tp_btf/sock_exceed_buf_limit")
int BPF_PROG(sock_exceed_buf_limit_tp_again, struct sock *sk, struct proto *prot, long allocated, int kind)
{
	return missed_first(EV_sock_exceed_buf_limit, (u64)sk) ? exceed_buf_limit(sk, prot, allocated, kind) : 0;
}
