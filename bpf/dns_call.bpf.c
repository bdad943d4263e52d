//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "netrec.h"

/* Nothing keeps two tasks from taking turns within a probe of a library: unlike other
 * hooks the kernel has no guard there. From 6.13 on it nevertheless gives a function that
 * needs much stack a place for it that all tasks of a CPU share, and one would find the
 * other's numbers there. So every function here stays below that, see TestStacks. */
#define SMALL_STACK __attribute__((noinline))

/* A lookup under way. Functions of the C library use each other: gethostbyname calls its
 * _r form, musl's jumps to gethostbyname2. Only the outermost call is a row; of those
 * inside it the _r form is of interest, because it is told where h_errno goes. */
struct lookup {
	u64 ts;
	u64 sp;		/* at the first instruction */
	u64 name;
	u64 result;	/* _r forms: where the pointer to the result goes */
	u64 h_errno_at; /* _r forms: where h_errno goes */
	u64 inner_sp;	/* the same of the _r form inside */
	u64 inner_h_errno_at;
	u32 lib;
	u16 family;
	u8 func;
	u8 inner;
	u8 h_errno;
	u8 unread; /* the name was not in memory at the start */
	u8 host[256];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096); /* threads that look names up at a time */
	__type(key, u32);
	__type(value, struct lookup);
} lookups SEC(".maps");

/* A new lookup is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lookup);
} blank_lookup SEC(".maps");

/* A call that never returned (its thread was cancelled, or left it by longjmp) is
 * forgotten after this time, longer than any resolver waits; at once when the stack
 * says that it cannot be under way. */
#define FORGET_NS (600ull * 1000 * 1000 * 1000)

/* A function that jumps to another leaves the stack as it is, and so does a second
 * probe at the same place: file systems in layers show one file as several. Both come
 * at once, a new call after one that was given up later. */
#define SAME_CALL_NS (100ull * 1000 * 1000)

static __always_inline bool reentrant(const u8 func)
{
	return func == FUNC_GETHOSTBYNAME_R || func == FUNC_GETHOSTBYNAME2_R;
}

/* An argument for which no register was left. */
static __always_inline u64 stack_arg(u64 at)
{
	u64 v = 0;

	bpf_probe_read_user(&v, sizeof(v), (void *)at);
	return v;
}

/* gethostbyname_r(name, ret, buf, buflen, result, h_errnop); gethostbyname2_r has the
 * family after the name. */
static __always_inline u64 h_errno_arg(struct pt_regs *ctx, const u8 func)
{
	u64 p = 0;

	if (func == FUNC_GETHOSTBYNAME_R)
		p = FUNC_ARG6(ctx);
	else if (func == FUNC_GETHOSTBYNAME2_R)
		p = FUNC_ARG7(ctx);
	return p;
}

/* The addresses asked for: getaddrinfo has it in its hints, where there are any, behind
 * their flags. */
static __always_inline u16 family_arg(struct pt_regs *ctx, const u8 func)
{
	u64 hints = PT_REGS_PARM3(ctx);
	s32 family = AF_INET;

	if (func == FUNC_GETHOSTBYNAME2 || func == FUNC_GETHOSTBYNAME2_R)
		family = PT_REGS_PARM2(ctx);
	else if (func == FUNC_GETADDRINFO && !hints)
		family = AF_UNSPEC;
	else if (func == FUNC_GETADDRINFO && bpf_probe_read_user(&family, sizeof(family), (void *)(hints + sizeof(s32))))
		return 0xffff;
	return family;
}

/* Values from -1 (NETDB_INTERNAL) to 4 (NO_DATA), kept with 0 for not known. */
static __always_inline u8 read_h_errno(u64 at)
{
	s32 v;

	if (!at || bpf_probe_read_user(&v, sizeof(v), (void *)at) || v < -1 || v > 4)
		return 0;
	return v + H_ERRNO_NETDB_SUCCESS;
}

static __always_inline int dns_enter(struct pt_regs *ctx, const u8 func)
{
	u64 sp = PT_REGS_SP(ctx), now = bpf_ktime_get_ns();
	u32 tid = bpf_get_current_pid_tgid(), zero = 0;
	struct lookup *l, *blank;

	if (!want_call(cfg_netns ? task_netns() : 0))
		return 0;
	l = bpf_map_lookup_elem(&lookups, &tid);
	if (l && sp == l->sp && now - l->ts < SAME_CALL_NS)
		return 0;
	if (l && sp < l->sp && now - l->ts < FORGET_NS) {
		if (reentrant(func)) {
			l->inner = func;
			l->inner_sp = sp;
			l->inner_h_errno_at = h_errno_arg(ctx, func);
		}
		return 0;
	}
	blank = bpf_map_lookup_elem(&blank_lookup, &zero);
	if (!blank)
		return 0;
	if (bpf_map_update_elem(&lookups, &tid, blank, BPF_ANY))
		return call_lost(EV_dns_call);
	l = bpf_map_lookup_elem(&lookups, &tid);
	if (!l)
		return call_lost(EV_dns_call);
	l->sp = sp;
	l->func = func;
	l->lib = library(ctx);
	l->family = family_arg(ctx, func);
	if (reentrant(func))
		l->result = func == FUNC_GETHOSTBYNAME_R ? PT_REGS_PARM5(ctx) : FUNC_ARG6(ctx);
	l->h_errno_at = h_errno_arg(ctx, func);
	l->name = PT_REGS_PARM1(ctx);
	l->unread = bpf_probe_read_user_str(l->host, sizeof(l->host), (void *)l->name) < 0;
	l->ts = bpf_ktime_get_ns();
	return 0;
}

/* found of the _r forms: some C libraries return 0 also for a name that is not there. */
static __always_inline u8 has_result(struct lookup *l)
{
	u64 p;

	if (bpf_probe_read_user(&p, sizeof(p), (void *)l->result))
		return 0xff;
	return p != 0;
}

static SMALL_STACK u32 lookup_netns(void)
{
	return task_netns();
}

/* getaddrinfo returns a code, the _r forms an errno, the others a pointer. */
static SMALL_STACK int lookup_row(struct lookup *l, u64 value)
{
	bool pointer = l->func == FUNC_GETHOSTBYNAME || l->func == FUNC_GETHOSTBYNAME2;
	struct dns_call *r = BEGIN(dns_call, 0, 0, lookup_netns());

	if (!r)
		return 0;
	if (bpf_probe_read_user_str(r->host_end, sizeof(r->host_end), (void *)l->name) < 0)
		r->host_end[0] = 0;
	if (l->unread)
		bpf_probe_read_user_str(l->host, sizeof(l->host), (void *)l->name);
	r->dur_ns = r->h.ts_ns - l->ts;
	r->ret = pointer ? (value ? 0 : -1) : (s64)(s32)value;
	__builtin_memcpy(r->host, l->host, sizeof(r->host));
	r->lib = l->lib;
	r->family = l->family;
	r->func = l->func;
	r->found = reentrant(l->func) ? has_result(l) : r->ret == 0;
	r->h_errno = r->found == 1 || l->func == FUNC_GETADDRINFO ? 0 : reentrant(l->func) ? read_h_errno(l->h_errno_at) : l->h_errno;
	SUBMIT(r);
	return 0;
}

static __always_inline int dns_exit(struct pt_regs *ctx, const u8 func)
{
	u64 sp = PT_REGS_SP(ctx) - RETURN_POPS;
	u32 tid = bpf_get_current_pid_tgid();
	struct lookup *l;

	l = bpf_map_lookup_elem(&lookups, &tid);
	if (!l)
		return 0;
	if (l->func != func || l->sp != sp) {
		if (l->inner == func && l->inner_sp == sp)
			l->h_errno = read_h_errno(l->inner_h_errno_at);
		return 0;
	}
	lookup_row(l, PT_REGS_RC(ctx));
	bpf_map_delete_elem(&lookups, &tid);
	return 0;
}

#define DNS(name, FUNC)                                \
	SEC("uprobe")                                  \
	int dns_call_##name(struct pt_regs *ctx)       \
	{                                              \
		return dns_enter(ctx, FUNC);           \
	}                                              \
	SEC("uretprobe")                               \
	int dns_call_##name##_ret(struct pt_regs *ctx) \
	{                                              \
		return dns_exit(ctx, FUNC);            \
	}

DNS(getaddrinfo, FUNC_GETADDRINFO)
DNS(gethostbyname, FUNC_GETHOSTBYNAME)
DNS(gethostbyname2, FUNC_GETHOSTBYNAME2)
DNS(gethostbyname_r, FUNC_GETHOSTBYNAME_R)
DNS(gethostbyname2_r, FUNC_GETHOSTBYNAME2_R)
