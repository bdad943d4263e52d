//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "skb.h"

#define REASON_UNKNOWN -1

/* What the headers of a packet say; zero where they are not there. */
struct headers {
	u8 saddr[16], daddr[16];
	u16 sport, dport, family, proto;
	u8 flags;
};

static __always_inline void read_l4(struct headers *h, const u8 *l4)
{
	__be16 ports[2] = {};

	if (h->proto != IPPROTO_TCP && h->proto != IPPROTO_UDP)
		return;
	bpf_probe_read_kernel(ports, sizeof(ports), l4);
	h->sport = bpf_ntohs(ports[0]);
	h->dport = bpf_ntohs(ports[1]);
	if (h->proto == IPPROTO_TCP)
		bpf_probe_read_kernel(&h->flags, 1, l4 + 13);
}

/* The transport header is not set yet where IP drops, so it is found from the
 * network header; IPv6 extension headers are not walked. */
static __always_inline void read_headers(struct headers *h, struct sk_buff *skb)
{
	u8 *l3 = skb->head + skb->network_header;
	u16 proto = bpf_ntohs(skb->protocol);
	u8 b[40] = {};

	h->proto = 0xffff;
	if (bpf_probe_read_kernel(b, sizeof(b), l3))
		return;
	if (proto == ETH_P_IP && b[0] >> 4 == 4) {
		h->family = AF_INET;
		h->proto = b[9];
		__builtin_memcpy(h->saddr, b + 12, 4);
		__builtin_memcpy(h->daddr, b + 16, 4);
		read_l4(h, l3 + (b[0] & 15) * 4);
	} else if (proto == ETH_P_IPV6 && b[0] >> 4 == 6) {
		h->family = AF_INET6;
		h->proto = b[6];
		__builtin_memcpy(h->saddr, b + 8, 16);
		__builtin_memcpy(h->daddr, b + 24, 16);
		read_l4(h, l3 + 40);
	}
}

static __always_inline bool drop_wanted(struct headers *h, struct sock *sk, u32 netns)
{
	if (!want_netns(netns))
		return false;
	if (cfg_port && h->sport != cfg_port && h->dport != cfg_port)
		return false;
	return want_task() || context() != CTX_TASK;
}

static __always_inline int skb_drop(void *ctx, struct sk_buff *skb, u64 location, s32 reason, struct sock *rx_sk)
{
	struct sock *sk = rx_sk ?: skb->sk;
	u32 netns = skb_netns(skb, sk);
	struct headers h = {};
	struct skb_drop *r;
	s64 n;

	read_headers(&h, skb);
	if (!drop_wanted(&h, sk, netns))
		return 0;
	r = BEGIN_FLOOD(skb_drop, full_sock(sk), skb, netns);
	if (!r)
		return 0;
	r->location = location;
	__builtin_memcpy(r->saddr, h.saddr, 16);
	__builtin_memcpy(r->daddr, h.daddr, 16);
	r->sport = h.sport;
	r->dport = h.dport;
	r->pkt_fam = h.family;
	r->ethertype = bpf_ntohs(skb->protocol);
	r->drop_reason = reason;
	r->len_bytes = skb->len;
	r->protocol = h.proto;
	r->tcp_flags = h.flags;
	r->state = sk ? BPF_CORE_READ(sk, __sk_common.skc_state) : 0;
	n = bpf_get_stack(ctx, r->kstack, sizeof(r->kstack) - 8, 0);
	if (n < 0)
		n = 0;
	r->kstack[(n >> 3) & 63] = 0;
	SUBMIT(r);
	return 0;
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(skb_drop_tp4, struct sk_buff *skb, void *location, int reason, struct sock *rx_sk)
{
	first_run(EV_skb_drop, (u64)skb);
	return skb_drop(ctx, skb, (u64)location, reason, rx_sk);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(skb_drop_tp4_again, struct sk_buff *skb, void *location, int reason, struct sock *rx_sk)
{
	return missed_first(EV_skb_drop, (u64)skb) ? skb_drop(ctx, skb, (u64)location, reason, rx_sk) : 0;
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(skb_drop_tp3, struct sk_buff *skb, void *location, int reason)
{
	first_run(EV_skb_drop, (u64)skb);
	return skb_drop(ctx, skb, (u64)location, reason, 0);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(skb_drop_tp3_again, struct sk_buff *skb, void *location, int reason)
{
	return missed_first(EV_skb_drop, (u64)skb) ? skb_drop(ctx, skb, (u64)location, reason, 0) : 0;
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(skb_drop_tp2, struct sk_buff *skb, void *location)
{
	first_run(EV_skb_drop, (u64)skb);
	return skb_drop(ctx, skb, (u64)location, REASON_UNKNOWN, 0);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(skb_drop_tp2_again, struct sk_buff *skb, void *location)
{
	return missed_first(EV_skb_drop, (u64)skb) ? skb_drop(ctx, skb, (u64)location, REASON_UNKNOWN, 0) : 0;
}
