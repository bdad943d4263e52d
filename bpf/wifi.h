/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Structures of cfg80211, a module. Kernels before 5.11 have no BTF of modules; for those
 * there are the layouts of 5.10 on 64 bits, which no other kernel is given. */
#ifndef NETREC_WIFI_H
#define NETREC_WIFI_H

#include "netrec.h"

#define SSID_LEN 32

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct wiphy {
	possible_net_t _net;
};

struct wireless_dev {
	struct wiphy *wiphy;
	struct net_device *netdev;
};

struct cfg80211_ssid {
	u8 ssid[SSID_LEN];
};

struct cfg80211_scan_request {
	struct cfg80211_ssid *ssids;
	int n_ssids;
	u32 n_channels;
	u32 flags;
	struct wireless_dev *wdev;
};

/* 6.17: what drivers get is a part of what cfg80211 has. */
struct cfg80211_scan_request_int {
	struct cfg80211_scan_request req;
};

struct cfg80211_scan_info {
	bool aborted;
};

enum nl80211_band {
	NL80211_BAND_2GHZ,
};

struct ieee80211_channel {
	enum nl80211_band band;
	u32 center_freq;
	u32 flags;
	bool beacon_found;
};

#pragma clang attribute pop

struct scan_request_510 {
	struct cfg80211_ssid *ssids;
	int n_ssids;
	u32 n_channels;
	u32 scan_width;
	void *ie;
	u64 ie_len;
	u16 duration;
	bool duration_mandatory;
	u32 flags;
	u32 rates[5];
	void *wdev;
};

struct wireless_dev_510 {
	void *wiphy;
	u32 iftype;
	void *list[2];
	struct net_device *netdev;
};

struct scan_info_510 {
	u64 scan_start_tsf;
	u8 tsf_bssid[6];
	bool aborted;
};

struct channel_510 {
	u32 band;
	u32 center_freq;
	u16 freq_offset;
	u16 hw_value;
	u32 flags;
	int max_antenna_gain;
	int max_power;
	int max_reg_power;
	bool beacon_found;
};

#endif
