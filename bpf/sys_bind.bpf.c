//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "fd.h"

SEC("tp/syscalls/sys_enter_bind")
int sys_bind_enter(struct trace_event_raw_sys_enter *ctx)
{
	struct call call = {};

	if (!want_task())
		return 0;
	call.arg[0] = ctx->args[0];
	user_addr((void *)ctx->args[1], call.addr, &call.port, &call.family);
	return call_start(EV_sys_bind, &call);
}

#define NO_BIND_OPTS 0xff

/* bind_opts is for sockets of IP. TCP in repair reuses addresses by force, with a 2. */
static __always_inline u8 bind_opts(struct sock *sk)
{
	unsigned long flags = inet_flags(sk);

	return (flags & INET_FREEBIND ? BIND_OPT_FREEBIND : 0) |
	       (flags & INET_TRANSPARENT ? BIND_OPT_TRANSPARENT : 0) |
	       (flags & INET_BIND_ADDRESS_NO_PORT ? BIND_OPT_BIND_ADDRESS_NO_PORT : 0) |
	       (BPF_CORE_READ_BITFIELD_PROBED(sk, __sk_common.skc_reuse) ? BIND_OPT_REUSEADDR : 0) |
	       (BPF_CORE_READ_BITFIELD_PROBED(sk, __sk_common.skc_reuseport) ? BIND_OPT_REUSEPORT : 0);
}

static __always_inline void bind_exit(struct call *call, s64 ret)
{
	struct sock *sk = fd_sock(call->arg[0]);
	u32 netns = fd_netns(sk);
	struct sys_bind *r;

	if (sk ? !want_name(sk, netns, call->addr, call->port, call->family) : !want_call(netns))
		return;
	r = BEGIN(sys_bind, sk, 0, netns);
	if (!r)
		return;
	__builtin_memset(&r->tuple, 0, sizeof(r->tuple));
	if (sk)
		fill_tuple(&r->tuple, sk, false);
	r->cookie = sk ? cookie(sk, false) : 0;
	r->dur_ns = r->h.ts_ns - call->ts;
	r->ret = ret;
	__builtin_memcpy(r->bind_addr, call->addr, sizeof(r->bind_addr));
	r->bind_port = call->port;
	r->bind_fam = call->family;
	r->sock_type = sk ? READ(sk, sk_type) : 0;
	r->protocol = sk ? READ(sk, sk_protocol) : 0;
	r->fd = call->arg[0];
	r->uid = task_uid();
	r->bound_ifindex = sk ? READ(sk, __sk_common.skc_bound_dev_if) : 0;
	r->bind_opts = sk && is_inet(r->tuple.family) ? bind_opts(sk) : NO_BIND_OPTS;
	SUBMIT(r);
}

SEC("tp/syscalls/sys_exit_bind")
int sys_bind_exit(struct trace_event_raw_sys_exit *ctx)
{
	struct call *call = call_of(EV_sys_bind);

	if (!call)
		return 0;
	bind_exit(call, ctx->ret);
	call_end(EV_sys_bind);
	return 0;
}
