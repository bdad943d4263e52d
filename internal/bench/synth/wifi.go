package synth

// scan is a scan of a Wi-Fi radio over some channels.
func (h *host) scan() {
	const wiphy, channel = 0xffff888500000000, 0xffff888500010000
	h.scans++
	request, dev := uint64(wiphy+0x1000+h.scans%16*0x100), [2]string{"wlan0", "wlan1"}[h.scans%2]
	radio, who := uint64(wiphy+h.scans%2*0x100000), process{1146, "wpa_supplicant"}
	step := func(after int64, name string) row {
		return h.row("wifi_scan", at{ts: h.now + after, who: who}).addr("wiphy", radio).addr("scan_request", request).str("dev", dev).
			num("ssid_count", 1).str("ssid", "home").num("channel_count", 13).name("scan_step", name)
	}
	step(0, "start")
	for i := range int64(13) {
		r := h.row("wifi_channel", at{ts: h.now + 1000 + i*90_000, who: who}).addr("wiphy", radio).addr("channel", channel+uint64(i)*64)
		r.num("center_freq", 2412+i*5).name("wifi_band", "2GHZ").num("beacon_found", int64(h.r.IntN(2)))
	}
	step(13*90_000, "done").num("aborted", 0)
	h.now += 1000
}
