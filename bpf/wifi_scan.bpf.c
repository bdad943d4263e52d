//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "wifi.h"

/* What a row has of a request, whatever its layout. */
struct scan {
	u64 request, wiphy;
	struct cfg80211_ssid *ssids;
	struct net_device *dev;
	int n_ssids;
	u32 n_channels, flags;
};

static __always_inline int wifi_scan(struct scan *s, const u8 step, u8 aborted)
{
	struct net_device *dev = s->dev;
	u32 netns = dev ? BPF_CORE_READ(dev, nd_net.net, ns.inum) : 0;
	struct wifi_scan *r;

	if (!want_netns(netns))
		return 0;
	r = BEGIN(wifi_scan, 0, 0, netns);
	if (!r)
		return 0;
	r->wiphy = s->wiphy;
	r->scan_request = s->request;
	__builtin_memset(r->dev, 0, sizeof(r->dev));
	__builtin_memset(r->ssid, 0, sizeof(r->ssid));
	r->ifindex = 0;
	if (dev) {
		BPF_CORE_READ_INTO(&r->dev, dev, name);
		r->ifindex = BPF_CORE_READ(dev, ifindex);
	}
	if (s->n_ssids)
		bpf_probe_read_kernel(r->ssid, sizeof(r->ssid), s->ssids);
	r->ssid_count = s->n_ssids;
	r->channel_count = s->n_channels;
	r->scan_flags = s->flags;
	r->scan_step = step;
	r->aborted = aborted;
	SUBMIT(r);
	return 0;
}

static __always_inline void read_scan(struct scan *s, void *request)
{
	struct cfg80211_scan_request *req = request;
	struct wireless_dev *wdev;

	if (bpf_core_type_exists(struct cfg80211_scan_request_int))
		req = request + bpf_core_field_offset(struct cfg80211_scan_request_int, req);
	wdev = BPF_CORE_READ(req, wdev);
	s->request = (u64)req;
	s->wiphy = (u64)BPF_CORE_READ(wdev, wiphy);
	s->dev = BPF_CORE_READ(wdev, netdev);
	s->ssids = BPF_CORE_READ(req, ssids);
	s->n_ssids = BPF_CORE_READ(req, n_ssids);
	s->n_channels = BPF_CORE_READ(req, n_channels);
	s->flags = BPF_CORE_READ(req, flags);
}

/* The arguments are read as numbers: their types are a module's, and differ. */
SEC("tp_btf/rdev_scan")
int wifi_scan_start_tp(u64 *ctx)
{
	struct {
		void *wiphy, *request;
	} args;
	struct scan s = {};

	bpf_probe_read_kernel(&args, sizeof(args), ctx);
	read_scan(&s, args.request);
	return wifi_scan(&s, SCAN_STEP_START, -1);
}

SEC("tp_btf/cfg80211_scan_done")
int wifi_scan_done_tp(u64 *ctx)
{
	struct {
		void *request, *info;
	} args;
	struct cfg80211_scan_info *info;
	struct scan s = {};

	bpf_probe_read_kernel(&args, sizeof(args), ctx);
	info = args.info;
	read_scan(&s, args.request);
	return wifi_scan(&s, SCAN_STEP_DONE, BPF_CORE_READ(info, aborted));
}

static __always_inline void read_scan_510(struct scan *s, void *request)
{
	struct wireless_dev_510 wdev = {};
	struct scan_request_510 req = {};

	bpf_probe_read_kernel(&req, sizeof(req), request);
	bpf_probe_read_kernel(&wdev, sizeof(wdev), req.wdev);
	s->request = (u64)request;
	s->wiphy = (u64)wdev.wiphy;
	s->dev = wdev.netdev;
	s->ssids = req.ssids;
	s->n_ssids = req.n_ssids;
	s->n_channels = req.n_channels;
	s->flags = req.flags;
}

SEC("kprobe/ieee80211_request_scan")
int BPF_KPROBE(wifi_scan_start_kprobe, void *sdata, void *request)
{
	struct scan s = {};

	read_scan_510(&s, request);
	return wifi_scan(&s, SCAN_STEP_START, -1);
}

SEC("kprobe/cfg80211_scan_done")
int BPF_KPROBE(wifi_scan_done_kprobe, void *request, void *info)
{
	struct scan_info_510 i = {};
	struct scan s = {};

	read_scan_510(&s, request);
	bpf_probe_read_kernel(&i, sizeof(i), info);
	return wifi_scan(&s, SCAN_STEP_DONE, i.aborted);
}
