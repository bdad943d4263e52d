//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "dev.h"

/* The driver may have freed the packet: its address is a name here, never a pointer, and
 * so nothing in it can select it. */
SEC("tp_btf/net_dev_xmit")
int BPF_PROG(dev_xmit_tp, void *skb, int rc, struct net_device *dev, unsigned int len)
{
	const bool direct = true;
	struct dev_xmit *r;
	u32 netns;

	if (!share_left(skb, direct))
		return 0;
	netns = dev_netns(dev, direct);
	if (FILTER_WHAT || !want_netns(netns) || (FILTER_DEV && !want_dev(dev->ifindex)) || !want_who(0))
		return 0;
	r = BEGIN(dev_xmit, 0, skb, netns);
	if (!r)
		return 0;
	FILL_DEV(r, dev);
	r->len_bytes = len;
	r->rc = rc;
	r->kstack[0] = 0;
	if (stack_due(STACK_XMIT, r->h.ts_ns))
		FILL_STACK(r->kstack, 0);
	SUBMIT(r);
	return 0;
}
