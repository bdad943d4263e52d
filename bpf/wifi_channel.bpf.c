//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "wifi.h"

static __always_inline int wifi_channel(u64 wiphy, u64 channel, struct channel_510 *c, u32 netns)
{
	struct wifi_channel *r;

	if (!want_netns(netns))
		return 0;
	r = BEGIN(wifi_channel, 0, 0, netns);
	if (!r)
		return 0;
	r->wiphy = wiphy;
	r->channel = channel;
	r->center_freq = c->center_freq;
	r->channel_flags = c->flags;
	r->wifi_band = c->band;
	r->beacon_found = c->beacon_found;
	SUBMIT(r);
	return 0;
}

/* A frequency that the radio does not know has no channel and leaves no row. */
SEC("fexit/ieee80211_get_channel_khz")
int BPF_PROG(wifi_channel_fexit, struct wiphy *wiphy, u32 freq, struct ieee80211_channel *ch)
{
	struct channel_510 c = {};

	if (!ch)
		return 0;
	c.band = BPF_CORE_READ(ch, band);
	c.center_freq = BPF_CORE_READ(ch, center_freq);
	c.flags = BPF_CORE_READ(ch, flags);
	c.beacon_found = BPF_CORE_READ(ch, beacon_found);
	return wifi_channel((u64)wiphy, (u64)ch, &c, BPF_CORE_READ(wiphy, _net.net, ns.inum));
}

SEC("kprobe/ieee80211_get_channel_khz")
int BPF_KPROBE(wifi_channel_kprobe, void *wiphy)
{
	struct call call = {};

	call.arg[0] = (u64)wiphy;
	return call_start(EV_wifi_channel, &call);
}

/* The namespace of the radio is not known there. */
SEC("kretprobe/ieee80211_get_channel_khz")
int BPF_KRETPROBE(wifi_channel_kretprobe, void *ch)
{
	struct call *call = call_of(EV_wifi_channel);
	struct channel_510 c = {};

	if (!call)
		return 0;
	if (ch && !bpf_probe_read_kernel(&c, sizeof(c), ch))
		wifi_channel(call->arg[0], (u64)ch, &c, 0);
	call_end(EV_wifi_channel);
	return 0;
}
