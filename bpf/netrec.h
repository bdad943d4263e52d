/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What every probe needs: the rings, the counters, and how a record is begun, filled
 * and sent; sock.h reads sockets, want.h decides which rows are wanted. */
#ifndef NETREC_H
#define NETREC_H

#include "kernel.h"
#include "events.gen.h"
#include "compat.h"
#include "file.h"
#include "want.h"

char LICENSE[] SEC("license") = "GPL"; /* see LICENSE.md */

/* Set by the loader before the programs are verified. */
const volatile u32 cfg_rings = 1;      /* rings for hot events, a power of two; the next one is for rare events */
const volatile u32 cfg_wake_bytes = 0; /* wake the recorder when a ring holds this much */
const volatile u32 cfg_hot_bytes = 0;  /* of each ring for hot events */
const volatile u32 cfg_rare_bytes = 0; /* of the ring for rare ones */
const volatile bool cfg_detail = false; /* profile full: fill also what costs more */

/* Where a function of the kernel begins and ends, for probes that ask who called; the
 * loader fills it in by the name. Nothing is within a function that a kernel lacks. */
struct site {
	u64 lo, hi;
};

#define SITE(function) const volatile struct site site_##function = {}
#define within(site, address) ((address) >= (site).lo && (address) < (site).hi)
#define CALLER(ctx, args, function) fexit_caller(ctx, args, site_##function.lo, site_##function.hi)

/* Set by the recorder while rows are to be made: attaching and detaching take their time,
 * one hook after the other, and the recording should begin and end at one moment for all
 * events. Starts of calls are noted before it, so that a call which is under way when the
 * recording begins has its duration. */
volatile u32 recording = 0;

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* generated = recorded + lost, per event and CPU, always. */
struct counter {
	u64 generated;
	u64 lost_ring;
	u64 lost_scratch;
	u64 rescued; /* by the second program of an event, see again.h */
	u64 thinned; /* left out for a budget, and not among generated, see budget.h */
};

struct cpu_counters {
	u64 seq;
	struct counter ev[EV_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cpu_counters);
} counters SEC(".maps");

/* A call between its start and its end. Its size does not depend on how many
 * sockets or packets there are. */
struct call {
	u64 ts;
	u64 arg[3];
	union {
		u8 bytes[128];
		struct {
			u8 addr[16];
			u16 family;
			u16 port;
			s32 rmem, rcvbuf;
		};
	};
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, struct call);
} calls SEC(".maps");

/* Makes every row known to the object's BTF, for the test that compares layouts. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, union all_rows);
} layout SEC(".maps");

static __always_inline struct cpu_counters *my_counters(u32 *cpu)
{
	*cpu = bpf_get_smp_processor_id();
	return bpf_map_lookup_elem(&counters, cpu);
}

static __always_inline void add_one(u64 *p)
{
	__sync_fetch_and_add(p, 1);
}

/* --- rings and quotas ---
 *
 * A CPU's rows go into its own ring as long as that is less than half full: CPUs that share a
 * ring wait for each other, and for its memory. Rare rows then go into one that is theirs
 * alone, so that what hot events make cannot push them out.
 *
 * Whoever floods a ring must not push out what others do. While a ring has room, nobody is
 * counted. When a ring for hot events is nearly full, or the one for rare events three quarters
 * full, the rest of it is for those who have made few rows lately. What the others make is lost,
 * and counted.
 */
#define MAX_RINGS 256
#define MAKER_BITS 10
#define MAKER_TICKS 5 /* as a power of two: a time in which rings are emptied */
#define NOWHERE (~0u)

/* Some rare events come in floods when things go wrong. Of the ring for rare events they may
 * take half (a quarter wakes the recorder), and are as hot ones beyond that, so that they
 * cannot push out what stays rare. */
enum kind {
	HOT,
	RARE,
	FLOOD,
};

/* How full rings were when they were last looked at. */
enum press {
	ROOM,
	HALF_FULL,
	SHORT, /* of room: for those who have made few rows */
};

u32 pressed[MAX_RINGS];

struct maker {
	u64 window;
	u64 bytes;
};

/* Two that share a place share a quota. A race between CPUs shifts a count, no more. */
struct maker makers[1 << MAKER_BITS];

static __always_inline u32 *pressed_at(u32 slot)
{
	return &pressed[slot & (MAX_RINGS - 1)];
}

static __always_inline u64 ring_fill(u32 slot)
{
	void *ring = bpf_map_lookup_elem(&rings, &slot);

	return ring ? bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) : 0;
}

/* press notes how full a ring is. */
static __always_inline u32 press(u32 slot, u64 fill)
{
	u64 size = slot == cfg_rings ? cfg_rare_bytes : cfg_hot_bytes;
	u64 limit = size - size / (slot == cfg_rings ? 4 : 8);
	u32 now = fill >= limit ? SHORT : fill >= size / 2 ? HALF_FULL : ROOM;

	if (*pressed_at(slot) != now) /* CPUs share these cache lines */
		*pressed_at(slot) = now;
	return now;
}

/* greedy counts a row, hot and rare ones apart. What interrupts make is nobody's: it is
 * counted by CPU. */
static __always_inline bool greedy(bool rare, u32 cpu, u32 size)
{
	u64 who = context() == CTX_TASK ? bpf_get_current_pid_tgid() >> 32 : ~(u64)cpu;
	struct maker *m = &makers[(who << 1 | rare) * GOLDEN >> (64 - MAKER_BITS)];
	u64 window = bpf_jiffies64() >> MAKER_TICKS;

	if (m->window != window) {
		m->window = window;
		m->bytes = 0;
	}
	m->bytes += size;
	return m->bytes > cfg_rare_bytes / 64;
}

/* reroute is the ring for a row that was to go to the CPU's own, which was short of room for
 * it. A function of its own, as in most recordings it never runs. */
__attribute__((noinline)) int reroute(u32 cpu, u32 size, u32 kind)
{
	u32 slot = cpu & (cfg_rings - 1), now = press(slot, ring_fill(slot));
	u64 fill;

	if (now == ROOM)
		return slot;
	fill = kind == HOT ? 0 : ring_fill(cfg_rings);
	if (kind == RARE || (kind == FLOOD && fill < 2 * cfg_wake_bytes)) {
		slot = cfg_rings;
		now = press(slot, fill);
	}
	return now == SHORT && greedy(slot == cfg_rings, cpu, size) ? NOWHERE : slot;
}

/* filling is for a ring that holds so much that the recorder should know: it is told once per
 * filling, by the row that makes it so much. */
__attribute__((noinline)) int filling(u32 slot, u64 fill, u32 size)
{
	press(slot, fill);
	return fill - size - BPF_RINGBUF_HDR_SZ < cfg_wake_bytes;
}

#define CTX_ASK 0xff

/* begin reserves a record and fills its header, or counts the loss; ctx is the context if the
 * caller knows it. */
static __always_inline void *begin(const u16 ev, const u32 size, const u32 kind, u64 sock, u64 skb, u32 netns, u8 ctx)
{
	struct cpu_counters *c;
	struct header *h;
	u64 seq, id, fill;
	u32 cpu, slot;
	void *ring;

	if (!recording)
		return 0;
	c = my_counters(&cpu);
	if (!c)
		return 0;
	seq = next(&c->seq);
	add_one(&c->ev[ev].generated);
	slot = cpu & (cfg_rings - 1);
	if (*pressed_at(slot) > (kind == HOT ? HALF_FULL : ROOM)) {
		slot = reroute(cpu, size, kind);
		if (slot == NOWHERE)
			goto lost;
	}
	ring = bpf_map_lookup_elem(&rings, &slot);
	if (!ring)
		goto lost;
	h = bpf_ringbuf_reserve(ring, size, 0);
	if (!h)
		goto lost;
	fill = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
	h->wake = fill >= cfg_wake_bytes && filling(slot, fill, size);
	id = bpf_get_current_pid_tgid();
	h->ts_ns = bpf_ktime_get_ns();
	h->seq = seq;
	h->sock = sock;
	h->skb = skb;
	h->pid = id >> 32;
	h->tid = (u32)id;
	h->netns = netns;
	h->event = ev;
	h->cpu = cpu;
	h->ctx = ctx == CTX_ASK ? context() : ctx;
	fill_task(h);
	return h;
lost:
	add_one(&c->ev[ev].lost_ring);
	return 0;
}

#define BEGIN_AS(name, kind, sock, skb, netns, ctx) \
	((struct name *)begin(EV_##name, sizeof(struct name), kind, (u64)(sock), (u64)(skb), netns, ctx))

#define BEGIN_FLOOD(name, sock, skb, netns) BEGIN_AS(name, FLOOD, sock, skb, netns, CTX_ASK)

#define BEGIN_IN(ctx, name, sock, skb, netns) BEGIN_AS(name, RARE_##name ? RARE : HOT, sock, skb, netns, ctx)

#define BEGIN(name, sock, skb, netns) BEGIN_IN(ONLY_TASKS(EV_##name) ? CTX_TASK : CTX_ASK, name, sock, skb, netns)

/* submit hands a record over. The recorder looks by itself many times a second;
 * it is woken only when a ring fills, once per filling. */
static __always_inline void submit(struct header *h)
{
	bpf_ringbuf_submit(h, h->wake ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

#define SUBMIT(rec) submit(&(rec)->h)

/* fill_stack ends the frames with a zero; slots is a power of two. */
static __always_inline void fill_stack(void *ctx, u64 *stack, const u32 slots, u64 flags)
{
	s64 n = bpf_get_stack(ctx, stack, (slots - 1) * sizeof(*stack), flags);

	if (n < 0)
		n = 0;
	stack[(n >> 3) & (slots - 1)] = 0;
}

#define FILL_STACK(stack, flags) fill_stack(ctx, stack, sizeof(stack) / sizeof(*(stack)), flags)

/* The kernel follows frame pointers. Most programs have none: what the register holds is any
 * number, and following it costs an exception, more than all the rest of a row, or leads to
 * frames that never were. One that cannot be a place on this stack is not followed. */
#define STACK_REACH (8ull << 20)

static __always_inline void fill_caller(void *ctx, u64 *stack, const u32 slots)
{
	struct pt_regs *regs = task_regs();
	u64 fp = CALL_FP(regs);

	if (fp - CALL_SP(regs) < STACK_REACH && !(fp & 7)) {
		fill_stack(ctx, stack, slots, BPF_F_USER_STACK);
		return;
	}
	stack[0] = CALL_IP(regs);
	stack[1] = 0;
}

/* FILL_CALLER is the user stack of a task that is in a system call. */
#define FILL_CALLER(stack) fill_caller(ctx, stack, sizeof(stack) / sizeof(*(stack)))

/* --- stacks: which are taken, and which the recorder must see at once --- */

const volatile bool cfg_all_stacks = false; /* also those that tell little and cost much */

/* A walk through the kernel's stack takes microseconds, more than all the rest of a row.
 * Where rows of a kind come by the ten thousand and their stacks repeat, the first of every
 * second have one, and a share of the others. */
#define STACK_WINDOW_NS (1000ull * 1000 * 1000)
#define STACKS_FIRST 32
#define STACKS_SHARE 64

enum stack_kind {
	STACK_DROP,
	STACK_XMIT,
	STACK_KINDS,
};

struct stack_budget {
	u64 since;
	u64 n;
};

/* An interrupt between two lines of stack_due shifts a count by one, no more. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_KINDS);
	__type(key, u32);
	__type(value, struct stack_budget);
} stack_budgets SEC(".maps");

static __always_inline bool stack_due(u32 kind, u64 now)
{
	struct stack_budget *b;
	u64 n;

	if (cfg_all_stacks)
		return true;
	b = bpf_map_lookup_elem(&stack_budgets, &kind);
	if (!b)
		return true;
	if (now - b->since >= STACK_WINDOW_NS) {
		b->since = now;
		b->n = 0;
	}
	n = b->n++;
	return n < STACKS_FIRST || n % STACKS_SHARE == 0;
}

/* The recorder must read a process's maps while it lives, so a user stack that it has not
 * seen wakes it: an interrupt, and two switches of tasks. One that it has can wait. Two
 * stacks that share a slot wake it more often than need be. */
#define KNOWN_STACKS 4096
#define HASHED_FRAMES 8

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KNOWN_STACKS);
	__type(key, u32);
	__type(value, u64);
} known_stacks SEC(".maps");

static __always_inline bool new_stack(u32 pid, const u64 *stack)
{
	u64 hash = pid, *known;
	u32 slot;

	for (int i = 0; i < HASHED_FRAMES && stack[i]; i++)
		hash = (hash ^ stack[i]) * GOLDEN;
	slot = hash >> 52; /* the best bits of a product, as many as there are slots */
	known = bpf_map_lookup_elem(&known_stacks, &slot);
	if (!known || *known == hash)
		return !known;
	*known = hash;
	return true;
}

/* SUBMIT_STACK is SUBMIT for rows with a user stack. */
#define SUBMIT_STACK(rec)                                                  \
	do {                                                               \
		if (new_stack((rec)->h.pid, (rec)->ustack))                \
			(rec)->h.wake = 1;                                 \
		SUBMIT(rec);                                               \
	} while (0)

/* --- calls: what is known at the start and needed at the end --- */

/* A thread has at most one call of a kind under way, and an interrupt on top of
 * it one more; interrupts belong to a CPU, not to the thread below them. */
static __always_inline u64 call_key(const u16 ev)
{
	u8 ctx = ONLY_TASKS(ev) ? CTX_TASK : context();
	u32 id = ctx == CTX_TASK || ctx == CTX_UNKNOWN ? (u32)bpf_get_current_pid_tgid() : bpf_get_smp_processor_id();

	return (u64)ev << 48 | (u64)ctx << 40 | id;
}

/* A call has its place by a hash of its key. Where several are under way that share one, the
 * first has it and the others are in the map, which takes several times as long. */
#define PLACE_BITS 12

struct place {
	u64 sharing; /* how many; 0 tells of most calls that end without a start that there was none */
	u64 key;     /* whose facts these are; 0 for nobody's */
	struct call call;
};

struct place places[1 << PLACE_BITS];

static __always_inline struct place *place_of(u64 key)
{
	return &places[key * GOLDEN >> (64 - PLACE_BITS)];
}

/* call_lost counts a call for whose start there is no room. */
static __always_inline int call_lost(const u16 ev)
{
	u32 cpu;
	struct cpu_counters *c = my_counters(&cpu);

	if (c && recording) {
		next(&c->seq);
		add_one(&c->ev[ev].generated);
		add_one(&c->ev[ev].lost_scratch);
	}
	return 0;
}

/* A place that has the key already is left from a call whose end was not seen. */
static __always_inline int call_start(const u16 ev, struct call *call)
{
	u64 key = call_key(ev);
	struct place *p = place_of(key);

	call->ts = bpf_ktime_get_ns();
	if (p->key == key || next(&p->sharing) == 1) {
		p->call = *call;
		p->key = key;
		return 0;
	}
	if (!bpf_map_update_elem(&calls, &key, call, BPF_ANY))
		return 0;
	less(&p->sharing);
	return call_lost(ev);
}

static __always_inline struct call *call_of(const u16 ev)
{
	u64 key = call_key(ev);
	struct place *p = place_of(key);

	if (p->key == key)
		return &p->call;
	return p->sharing ? bpf_map_lookup_elem(&calls, &key) : 0;
}

static __always_inline void call_end(const u16 ev)
{
	u64 key = call_key(ev);
	struct place *p = place_of(key);

	if (p->key == key)
		p->key = 0;
	else if (bpf_map_delete_elem(&calls, &key))
		return;
	less(&p->sharing);
}

/* user_addr copies an IP address and port from a sockaddr in user memory. */
static __always_inline void user_addr(const void *uaddr, u8 *addr, u16 *port, u16 *family)
{
	struct sockaddr_in6 sa = {};

	if (!uaddr || bpf_probe_read_user(&sa.sin6_family, sizeof(u16), uaddr))
		return;
	*family = sa.sin6_family;
	if (!is_inet(sa.sin6_family))
		return;
	if (bpf_probe_read_user(&sa, sa.sin6_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(sa), uaddr))
		return;
	*port = bpf_ntohs(sa.sin6_port);
	if (sa.sin6_family == AF_INET)
		*(u32 *)addr = ((struct sockaddr_in *)&sa)->sin_addr;
	else
		__builtin_memcpy(addr, sa.sin6_addr, 16);
}

#endif
