/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Which hot rows of sockets are recorded while a budget leaves room for a part of them only
 * (netrec record --budget). A connection is kept whole, by the hash of --sample, which is the
 * same on both of its ends; half as many are a subset. What has not two ends goes by the
 * address of the socket. Rows of rare events never ask.
 */
#ifndef NETREC_BUDGET_H
#define NETREC_BUDGET_H

#include "netrec.h"

static __always_inline u64 socket_hash(struct sock *sk, u64 *of, const bool direct)
{
	u64 x[2], y[2];
	TUPLE(t);

	fill_tuple(&t, sk, direct);
	*of = ALL_HASHES;
	if (!is_inet(t.family) || !t.lport || !t.rport)
		return mix(cfg_sample_seed ^ as_number(sk)) >> 32;
	if (cfg_filters & BY_SAMPLE)
		*of = cfg_sample; /* a part of what is recorded at all */
	addr_key(x, ((u64 *)t.laddr)[0], ((u64 *)t.laddr)[1], t.family);
	addr_key(y, ((u64 *)t.raddr)[0], ((u64 *)t.raddr)[1], t.family);
	return conn_hash(x, t.lport, y, t.rport);
}

/* hot_kept is whether hot rows of a socket are recorded now. */
static __always_inline bool hot_kept(struct sock *sk, const bool direct)
{
	u32 halved;
	u64 of;

	if (!cfg_budget)
		return true;
	halved = conns_halved;
	return !halved || socket_hash(sk, &of, direct) < of >> (halved & 31);
}

/* hot_row is for a row that passed the filters. One that is left out is counted: the recorder
 * must know how often the probes ran. */
static __always_inline bool hot_row(const u16 ev, struct sock *sk, const bool direct)
{
	struct cpu_counters *c;
	u32 cpu;

	if (hot_kept(sk, direct))
		return true;
	c = my_counters(&cpu);
	if (c && recording)
		c->ev[ev].thinned++; /* an interrupt in between may cost it one */
	return false;
}

#endif
