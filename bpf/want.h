/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Whether a row about a socket or a call is wanted; packet.h has those about packets. */
#ifndef NETREC_WANT_H
#define NETREC_WANT_H

#include "filter.h"

#define STATE_BIT(state) (1u << ((state) & 31))

/* facts_wanted takes the states that a row is about, or 0 for the socket's own. */
static __always_inline bool facts_wanted(struct sock *sk, u32 states)
{
	u16 family, proto;

	if (FILTER_DEV && !want_dev(READ(sk, __sk_common.skc_bound_dev_if)))
		return false;
	if (!(cfg_filters & (BY_PROTO | BY_STATE)))
		return true;
	family = READ(sk, __sk_common.skc_family);
	proto = READ(sk, sk_protocol);
	if (!states)
		states = STATE_BIT(READ(sk, __sk_common.skc_state));
	return want_proto(family, proto) && want_states(family, proto, states);
}

FILTER_FN sock_wanted(u64 sock, u32 states)
{
	struct sock *sk = (void *)sock;
	TUPLE(t);

	if (FILTER_ENDS) {
		fill_tuple(&t, sk, false);
		if (!want_tuple(&t))
			return false;
	}
	return facts_wanted(sk, states);
}

static __always_inline void set_end(u8 *end, u64 first, u64 second, u16 family, u16 wanted)
{
	u64 *to = (u64 *)end;

	if (family == wanted) {
		to[0] = first;
		to[1] = second;
	} else if (family == AF_INET) { /* as an IPv6 socket shows it */
		to[0] = 0;
		to[1] = bpf_cpu_to_be64(0xffff00000000ull | bpf_be64_to_cpu(first) >> 32);
	}
}

/* named_wanted is sock_wanted for a call that names one end itself: its address, and as
 * ENDS whether it is the local one, its port and its family. */
FILTER_FN named_wanted(u64 sock, u64 first, u64 second, u64 end)
{
	struct sock *sk = (void *)sock;
	u16 port = end >> 16, family = end;
	TUPLE(t);

	if (!FILTER_ENDS)
		return facts_wanted(sk, 0);
	fill_tuple(&t, sk, false);
	if (is_inet(family) && !(end >> 32)) {
		set_end(t.raddr, first, second, family, t.family);
		t.rport = port;
	} else if (is_inet(family) && !t.lport) { /* it did not get what it asked for */
		set_end(t.laddr, first, second, family, t.family);
		t.lport = port;
	}
	return want_tuple(&t) && facts_wanted(sk, 0);
}

/* want_sock is for rows about a whole socket. */
static __always_inline bool want_sock(struct sock *sk, u32 netns)
{
	return want_netns(netns) && (!FILTER_SOCK || sock_wanted(as_number(sk), 0)) && want_who(sk);
}

/* want_change is want_sock between two states. */
static __always_inline bool want_change(struct sock *sk, u32 netns, u8 from, u8 to)
{
	return want_netns(netns) && (!FILTER_SOCK || sock_wanted(as_number(sk), STATE_BIT(from) | STATE_BIT(to))) && want_who(sk);
}

static __always_inline bool want_named(struct sock *sk, u32 netns, const u8 *addr, u64 end)
{
	const u64 *a = (const u64 *)addr;

	return want_netns(netns) && (!FILTER_SOCK || named_wanted(as_number(sk), a[0], a[1], end)) && want_who(sk);
}

/* want_peer is want_sock for a call that may name the other end, which the socket then
 * does not know or forgets. The address must be aligned as numbers are. */
static __always_inline bool want_peer(struct sock *sk, u32 netns, const u8 *addr, u16 port, u16 family)
{
	return want_named(sk, netns, addr, ENDS(0, port, family));
}

/* want_name is want_sock for a call that asks for an address of its own. */
static __always_inline bool want_name(struct sock *sk, u32 netns, const u8 *addr, u16 port, u16 family)
{
	return want_named(sk, netns, addr, ENDS(1, port, family));
}

/* want_call is for what a task did without a socket. */
static __always_inline bool want_call(u32 netns)
{
	return !FILTER_WHAT && want_netns(netns) && want_task();
}

#endif
