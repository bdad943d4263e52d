/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Which waits for descriptors are recorded where only a share is wanted. A connect that does
 * not block ends for its program when a wait tells of it, so all waits of a process count
 * while one of its connects is under way and for a second after; of the rest, the share in
 * time.
 */
#ifndef NETREC_CONNECTS_H
#define NETREC_CONNECTS_H

#include "share.h"

#define WAITER_BITS 10
#define UNDER_WAY_BITS 12
#define WAIT_ON_NS (1000ull * 1000 * 1000)

/* By process; two that share a place have more waits recorded than need be, never fewer. */
struct waiter {
	s64 pending; /* connects under way */
	u64 until;
};

struct waiter waiters[1 << WAITER_BITS];

/* TCP's connects under way: the socket, and in the low bits its waiter. */
u64 under_way[1 << UNDER_WAY_BITS];

static __always_inline struct waiter *waiter_at(u64 n)
{
	return &waiters[n & ((1 << WAITER_BITS) - 1)];
}

static __always_inline u64 *under_way_of(u64 sock)
{
	return &under_way[sock * GOLDEN >> (64 - UNDER_WAY_BITS)];
}

/* no_longer frees a place, and its waiter from one connect. */
static __always_inline void no_longer(u64 *place, u64 entry)
{
	*place = 0;
	__sync_fetch_and_add(&waiter_at(entry)->pending, -1);
}

/* connect_begun is for one that returned; sk may be over the handshake already. */
static __always_inline void connect_begun(struct sock *sk)
{
	u64 me = bpf_get_current_pid_tgid() >> 32, sock, entry, *place;
	struct waiter *w = waiter_at(me);

	w->until = bpf_ktime_get_ns() + WAIT_ON_NS;
	if (w->pending < 0) /* two have freed one place at once */
		w->pending = 0;
	if (READ(sk, sk_protocol) != IPPROTO_TCP)
		return;
	sock = as_number(sk);
	place = under_way_of(sock);
	entry = sock << WAITER_BITS | (me & ((1 << WAITER_BITS) - 1));
	if (*place)
		no_longer(place, *place);
	__sync_fetch_and_add(&w->pending, 1);
	*place = entry;
	if (READ(sk, __sk_common.skc_state) != TCP_SYN_SENT && *place == entry)
		no_longer(place, entry);
}

/* connect_over is for a socket that leaves SYN_SENT, whoever runs. */
static __always_inline void connect_over(struct sock *sk)
{
	u64 sock = as_number(sk), *place = under_way_of(sock), entry = *place;

	if (entry >> WAITER_BITS != sock << WAITER_BITS >> WAITER_BITS)
		return;
	no_longer(place, entry);
	waiter_at(entry)->until = bpf_ktime_get_ns() + WAIT_ON_NS;
}

/* Descriptors that were looked at lately and are no socket that may connect. One that begins
 * anew as another socket is taken out by sys_socket; by other ways (it was passed by another
 * process) it is looked at again when the time that is noted with it is over. */
#define SETTLED_BITS 12
#define SETTLED_FDS (1 << 24)
#define SETTLED_TICKS 8 /* as a power of two: about a second */

u64 settled[1 << SETTLED_BITS];

static __always_inline u64 *settled_at(u64 name)
{
	return &settled[name * GOLDEN >> (64 - SETTLED_BITS)];
}

/* Of the task's own descriptors; the low 16 bits are for the time. */
static __always_inline u64 fd_name(u32 fd)
{
	return (bpf_get_current_pid_tgid() >> 32) << 40 | (u64)fd << 16;
}

static __always_inline u64 settled_now(u64 name)
{
	return name | (u16)(bpf_jiffies64() >> SETTLED_TICKS);
}

/* unsettle is for a descriptor that has just become a socket. */
static __always_inline void unsettle(u32 fd)
{
	if (fd < SETTLED_FDS)
		*settled_at(fd_name(fd)) = 0;
}

static __always_inline bool connecting(void)
{
	struct waiter *w = waiter_at(bpf_get_current_pid_tgid() >> 32);

	if (w->pending > 0)
		return true;
	if (!w->until)
		return false;
	if (w->until > bpf_ktime_get_ns())
		return true;
	w->until = 0; /* saves the next calls the clock */
	return false;
}

/* new_to_data is true of a connection that no byte has passed yet: its program may not have been
 * told of it. */
static __always_inline bool new_to_data(struct sock *sk, u8 state)
{
	struct tcp_sock *tp = (void *)sk;

	return state == TCP_ESTABLISHED && READ(sk, sk_protocol) == IPPROTO_TCP && !READ(tp, bytes_sent) &&
	       !READ(tp, bytes_received);
}

/* may_connect is true of a socket before and while it connects; of a process that connects also
 * of one that has just connected. */
static __always_inline bool may_connect(u32 fd)
{
	u64 name = fd_name(fd), now = settled_now(name), *place = settled_at(name);
	struct sock *sk;
	u8 state;

	if (fd < SETTLED_FDS && *place == now)
		return false;
	sk = fd_sock(fd);
	state = sk ? READ(sk, __sk_common.skc_state) : 0;
	if (state == TCP_CLOSE || state == TCP_SYN_SENT || (sk && new_to_data(sk, state) && connecting()))
		return true;
	if (fd < SETTLED_FDS)
		*place = now;
	return false;
}

static __always_inline bool share_wait(void)
{
	return !cfg_share || connecting() || share_time();
}

#endif
