package truth

import (
	"fmt"
	"slices"

	"netrec/internal/bench/vmtest/traffic"
)

// checkScans holds the scans of Wi-Fi radios and the channels that their programs named
// against the log. Two radios scan at the same time.
func checkScans(c *Capture, l *traffic.Log, owed Expect) Errors {
	if slices.Contains(owed.Missing, "wifi_scan") {
		return nil
	}
	var errs Errors
	const flush = 2
	wiphys := map[string]int64{}
	for _, s := range l.Scans {
		starts := c.Select("wifi_scan", Is("scan_step", "start"), Num("pid", int64(s.PID)), Is("dev", s.Device), Between(s.Begin, s.End))
		if len(starts) != 1 {
			errs.add("wifi_scan: %d starts of process %d", len(starts), s.PID)
			continue
		}
		r := &starts[0]
		if r.Int["ssid_count"] != int64(len(s.SSIDs)) || r.Str["ssid"] != s.SSIDs[0] || r.Int["channel_count"] != int64(len(s.Freqs)) ||
			(r.Int["scan_flags"] == flush) != s.Flush || r.Int["ifindex"] == 0 || r.Int["wiphy"] == 0 || r.Int["netns"] == 0 {
			errs.add("wifi_scan: %v %v, the log has %+v", r.Int, r.Str, s)
		}
		if w, ok := wiphys[s.Device]; ok && w != r.Int["wiphy"] {
			errs.add("wifi_scan: device %s on radio %#x and %#x", s.Device, uint64(w), uint64(r.Int["wiphy"]))
		}
		wiphys[s.Device] = r.Int["wiphy"]
		errs = append(errs, checkChannels(c, s, r.Int["wiphy"])...)
	}
	for dev, wiphy := range wiphys {
		errs = append(errs, checkTurns(c, l, dev, wiphy)...)
	}
	all := len(c.Select("wifi_scan", Between(l.Begin, l.End)))
	if all != 2*len(l.Scans) || all == 0 || len(wiphys) != 2 {
		errs.add("wifi_scan: %d rows of %d radios, %d scans were made", all, len(wiphys), len(l.Scans))
	}
	return errs
}

// checkTurns: on each radio a scan ends before the next starts, as the log has it.
func checkTurns(c *Capture, l *traffic.Log, dev string, wiphy int64) Errors {
	var errs Errors
	rows := c.Select("wifi_scan", Num("wiphy", wiphy), Between(l.Begin, l.End))
	scans := slices.DeleteFunc(slices.Clone(l.Scans), func(s traffic.Scan) bool { return s.Device != dev })
	if len(rows) != 2*len(scans) {
		return Errors{fmt.Sprintf("wifi_scan: %d rows of %s, %d scans were made", len(rows), dev, len(scans))}
	}
	for i, s := range scans {
		start, end := &rows[2*i], &rows[2*i+1]
		_, told := start.Int["aborted"]
		if start.Str["scan_step"] != "start" || end.Str["scan_step"] != "done" || start.Int["scan_request"] != end.Int["scan_request"] ||
			told || (end.Int["aborted"] == 1) != s.Aborted || end.Str["dev"] != dev {
			errs.add("wifi_scan: scan %d of %s: %v %v, then %v %v", i, dev, start.Int, start.Str, end.Int, end.Str)
		}
	}
	return errs
}

// checkChannels: the program's channels were looked up once each, in its order.
func checkChannels(c *Capture, s traffic.Scan, wiphy int64) Errors {
	var errs Errors
	var freqs []int
	for _, r := range c.Select("wifi_channel", Num("pid", int64(s.PID)), Num("wiphy", wiphy), Between(s.Begin, s.End)) {
		freqs = append(freqs, int(r.Int["center_freq"]))
		band := "2GHZ"
		if r.Int["center_freq"] >= 5000 {
			band = "5GHZ"
		}
		if r.Str["wifi_band"] != band || r.Int["channel"] == 0 || r.Int["beacon_found"] != 0 {
			errs.add("wifi_channel: a row that cannot be: %v %v", r.Int, r.Str)
		}
	}
	if !slices.Equal(freqs, s.Freqs) {
		errs.add("wifi_channel: process %d looked up %v, it named %v", s.PID, freqs, s.Freqs)
	}
	return errs
}
