//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "netrec.h"

/* An IPv6 socket's connect to an IPv4 address goes on in the IPv4 function, which is
 * then left out: one call, one row. */
static __always_inline bool connect_handed_on(struct sock *sk, const u8 func)
{
	return func == FUNC_TCP_V4_CONNECT && READ(sk, __sk_common.skc_family) == AF_INET6;
}

static __always_inline int tcp_connect_fn(struct sock *sk, s64 ret, const u8 func)
{
	u32 netns = sock_netns(sk, false);
	struct tcp_connect_fn *r;

	if (!want_sock(sk, netns))
		return 0;
	r = BEGIN(tcp_connect_fn, sk, 0, netns);
	if (!r)
		return 0;
	fill_tuple(&r->tuple, sk, false);
	r->cookie = cookie(sk, false);
	r->ret = (s32)ret;
	r->uid = task_uid();
	r->func = func;
	SUBMIT(r);
	return 0;
}

SEC("fexit/tcp_v4_connect")
int BPF_PROG(tcp_connect_fn4_fexit, struct sock *sk, void *addr, int len, int ret)
{
	return connect_handed_on(sk, FUNC_TCP_V4_CONNECT) ? 0 : tcp_connect_fn(sk, ret, FUNC_TCP_V4_CONNECT);
}

SEC("fexit/tcp_v6_connect")
int BPF_PROG(tcp_connect_fn6_fexit, struct sock *sk, void *addr, int len, int ret)
{
	return tcp_connect_fn(sk, ret, FUNC_TCP_V6_CONNECT);
}

static __always_inline int connect_fn_start(struct sock *sk, const u8 func)
{
	struct call call = {};

	if (connect_handed_on(sk, func))
		return 0;
	call.arg[0] = (u64)sk;
	call.arg[1] = func;
	return call_start(EV_tcp_connect_fn, &call);
}

static __always_inline int connect_fn_end(s64 ret, const u8 func)
{
	struct call *call = call_of(EV_tcp_connect_fn);

	if (!call || call->arg[1] != func)
		return 0;
	tcp_connect_fn((void *)call->arg[0], ret, func);
	call_end(EV_tcp_connect_fn);
	return 0;
}

SEC("kprobe/tcp_v4_connect")
int BPF_KPROBE(tcp_connect_fn4_kprobe, struct sock *sk)
{
	return connect_fn_start(sk, FUNC_TCP_V4_CONNECT);
}

SEC("kretprobe/tcp_v4_connect")
int BPF_KRETPROBE(tcp_connect_fn4_kretprobe, s64 ret)
{
	return connect_fn_end(ret, FUNC_TCP_V4_CONNECT);
}

SEC("kprobe/tcp_v6_connect")
int BPF_KPROBE(tcp_connect_fn6_kprobe, struct sock *sk)
{
	return connect_fn_start(sk, FUNC_TCP_V6_CONNECT);
}

SEC("kretprobe/tcp_v6_connect")
int BPF_KRETPROBE(tcp_connect_fn6_kretprobe, s64 ret)
{
	return connect_fn_end(ret, FUNC_TCP_V6_CONNECT);
}
