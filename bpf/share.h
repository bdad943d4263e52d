/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Which packets, attempts and interrupts are recorded where only a share of them is wanted
 * (netrec record --packets 1/16). These tests stand before anything else in a program: it
 * runs for every packet, and for most of them this is all that it costs.
 *
 * A packet is drawn once, where it is first seen, and then is in or out until its end, with
 * all sk_buffs that are made of it: lives are whole, whatever their length. A table by address
 * remembers the draw. Where two packets share a slot the newer has it, and the older is drawn
 * again; that may cost the rest of a life, and no packet has a greater chance by it.
 */
#ifndef NETREC_SHARE_H
#define NETREC_SHARE_H

#include "netrec.h"

const volatile u32 cfg_share = 0; /* in 2^32 parts of all; 0: all */

static __always_inline u32 share_now(void)
{
	return cfg_budget ? cfg_share >> (draws_halved & 31) : cfg_share;
}

/* What the attached hooks show, set by the recorder: the end of every packet (skb_free), which
 * comes after skb_consume or skb_drop told of it; the birth of every packet, clones
 * included (skb_alloc, skb_derive). */
volatile u32 shown_ends = 0;
volatile u32 shown_births = 0;

#define DRAW_BITS 14

u64 drawn[1 << DRAW_BITS];

/* Low bits of an entry of drawn; the others name the packet. Where births are hidden, a packet
 * that comes to the same place again is another one at the same address. */
enum { PASSED_OVER = 1, ENDED = 2, AT_QUEUE = 4, AT_GRO = 8, AT_STACK = 16, DRAW_FLAGS = 63 };

/* The difference is a multiple of 8 and leaves room for the flags. */
static __always_inline u64 name_from(u64 base, u64 skb)
{
	return (skb - base) << 3;
}

/* packet_name is a number for the packet. The verifier allows nothing on a typed pointer but to
 * take another pointer from it, which makes it a number; and nothing of the kind on a
 * number. */
static __always_inline u64 packet_name(const void *skb, const bool typed)
{
	return name_from(typed ? (u64)drawn : as_number(drawn), (u64)skb);
}

static __always_inline u64 *draw_of(u64 name)
{
	return &drawn[name * GOLDEN >> (64 - DRAW_BITS)];
}

static __always_inline bool draw(u64 name, u64 place)
{
	bool in = bpf_get_prandom_u32() < share_now();

	*draw_of(name) = name | place | (in ? 0 : PASSED_OVER);
	return in;
}

/* share_born draws for a packet that begins here. */
static __always_inline bool share_born(const void *skb, const bool typed)
{
	return !cfg_share || draw(packet_name(skb, typed), 0);
}

/* share_at is for a packet on its way, at one of the places above or 0; it draws for one that was
 * not met before. */
static __always_inline bool share_at(const u64 place, const void *skb, const bool typed)
{
	u64 name, *slot, known;

	if (!cfg_share)
		return true;
	name = packet_name(skb, typed);
	slot = draw_of(name);
	known = *slot ^ name;
	if (known > DRAW_FLAGS || known & (ENDED | place))
		return draw(name, shown_births ? 0 : place);
	if (place && !shown_births)
		*slot = name | known | place;
	return !(known & PASSED_OVER);
}

/* share_left is for a packet that may have ended already, and be another by now. */
static __always_inline bool share_left(const void *skb, const bool typed)
{
	u64 name, known;

	if (!cfg_share)
		return true;
	name = packet_name(skb, typed);
	known = *draw_of(name) ^ name;
	if (known <= DRAW_FLAGS)
		return !(known & PASSED_OVER);
	return bpf_get_prandom_u32() < share_now();
}

/* share_ends is for the end of a packet: one that was never met has no life to tell of. */
static __always_inline bool share_ends(const void *skb, const bool typed, bool last)
{
	u64 name, *slot, known;

	if (!cfg_share)
		return true;
	name = packet_name(skb, typed);
	slot = draw_of(name);
	known = *slot ^ name;
	if (known > DRAW_FLAGS || known & ENDED)
		return false;
	if (last)
		*slot = name | known | ENDED;
	return !(known & PASSED_OVER);
}

static __always_inline void share_lot(u64 name, bool in)
{
	*draw_of(name) = in ? name : name | PASSED_OVER;
}

/* share_made lets an sk_buff that was made of another share its lot. */
static __always_inline bool share_made(const void *parent, const void *child, const bool typed)
{
	bool in;

	if (!cfg_share)
		return true;
	in = share_at(0, parent, typed);
	share_lot(packet_name(child, typed), in);
	return in;
}

/* share_time is true for the share of all timer ticks, at distances that no period of
 * the host's follows. It is for what is over at once, or judged by its start. */
static __always_inline bool share_time(void)
{
	return !cfg_share || (u32)bpf_jiffies64() * (u32)(GOLDEN >> 32) < share_now();
}

/* Sockets whose newest attempt to send held something back. */
#define STUCK_BITS 12
u64 stuck[1 << STUCK_BITS];

/* share_attempt is in for every attempt that holds data back and for the next one, so that
 * times between them are whole; of the others for the share in time. */
static __always_inline bool share_attempt(const void *sk, bool held, const bool typed)
{
	u64 name, *slot;

	if (!cfg_share)
		return true;
	name = packet_name(sk, typed);
	slot = &stuck[name * GOLDEN >> (64 - STUCK_BITS)];
	if (held) {
		*slot = name;
		return true;
	}
	if (*slot == name) {
		*slot = 0;
		return true;
	}
	return share_time();
}

#endif
