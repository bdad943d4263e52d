//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "netrec.h"

/* Which library this is comes with the attachment (5.15); older kernels leave it
 * to the recorder, which knows it when there is only one. */
const volatile bool cfg_cookies = false;

/* gethostbyname and its kin call their own _r forms; only the outermost call
 * counts. A call that never returned (its thread was cancelled) is forgotten after
 * this time, longer than any resolver waits. */
#define FORGET_NS (600ull * 1000 * 1000 * 1000)

static __always_inline int dns_enter(struct pt_regs *ctx, const u8 func)
{
	struct call *outer = call_of(EV_dns_call);
	struct call call = {};

	if (!want_task() || (cfg_netns && task_netns() != cfg_netns) || cfg_port)
		return 0;
	if (outer && outer->arg[0] != func && bpf_ktime_get_ns() - outer->ts < FORGET_NS)
		return 0;
	call.arg[0] = func;
	call.arg[1] = cfg_cookies ? bpf_get_attach_cookie(ctx) : 0;
	bpf_probe_read_user_str(call.bytes, sizeof(call.bytes), (void *)PT_REGS_PARM1(ctx));
	return call_start(EV_dns_call, &call);
}

static __always_inline int dns_exit(const u8 func, s64 ret)
{
	struct call *call = call_of(EV_dns_call);
	struct dns_call *r;

	if (!call || call->arg[0] != func)
		return 0;
	r = BEGIN(dns_call, 0, 0, task_netns());
	if (r) {
		r->dur_ns = r->h.ts_ns - call->ts;
		r->ret = ret;
		__builtin_memcpy(r->host, call->bytes, sizeof(r->host));
		r->lib = call->arg[1];
		r->func = func;
		SUBMIT(r);
	}
	call_end(EV_dns_call);
	return 0;
}

/* getaddrinfo returns a code, the _r forms an errno, the others a pointer. */
#define CODE(ret) ((s64)(s32)(ret))
#define POINTER(ret) ((ret) ? 0 : -1)

#define DNS(name, FUNC, result)                              \
	SEC("uprobe")                                        \
	int dns_call_##name(struct pt_regs *ctx)             \
	{                                                    \
		return dns_enter(ctx, FUNC);                 \
	}                                                    \
	SEC("uretprobe")                                     \
	int dns_call_##name##_ret(struct pt_regs *ctx)       \
	{                                                    \
		return dns_exit(FUNC, result(PT_REGS_RC(ctx))); \
	}

DNS(getaddrinfo, FUNC_GETADDRINFO, CODE)
DNS(gethostbyname, FUNC_GETHOSTBYNAME, POINTER)
DNS(gethostbyname2, FUNC_GETHOSTBYNAME2, POINTER)
DNS(gethostbyname_r, FUNC_GETHOSTBYNAME_R, CODE)
DNS(gethostbyname2_r, FUNC_GETHOSTBYNAME2_R, CODE)
