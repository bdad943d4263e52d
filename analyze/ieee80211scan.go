package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "ieee80211scan",
	Group:    groupSlow,
	Question: "what does a Wi-Fi scan do, and how long does it take?",
	Help: `One line when a scan starts, one for each channel that is looked up, and one when the scan
ends, with its milliseconds, the radio, what it searched for and whether it was aborted.
Lookups while the radio is not scanning are marked: other code looks channels up too. The
process is the one on the CPU, which is probably, but not certainly, the one that asked.

--channels summarizes each scan: every channel once, with how often it was looked up,
whether a beacon was found, and the time until the next channel.

--compat prints the original's lines. It pairs every start with the next end, even of
another radio.`,
	Example: "ieee80211scan --channels",
	Options: []engine.Option{
		{Name: "channels", Kind: engine.Flag, Doc: "also the channels of each scan, with dwell times"},
		engine.Compat("one start for all radios"),
	},
	New: newWifiScan,
})

// maxRadios is more than a host has; it bounds what a file from elsewhere can claim.
const maxRadios = 1 << 12

// scanKey is a scan under way.
type scanKey struct{ wiphy, request uint64 }

// wifiRun is what is known of it.
type wifiRun struct {
	start  int64
	number int64
}

type wifiScan struct {
	in       *engine.Input
	t        *render.Table
	open     agg.Pending[scanKey, wifiRun]
	radios   map[uint64]int64 // how many scans run, by wiphy
	channels *wifiChannels
	compat   bool
	global   int64 // start, as the original keeps it

	scans, wrong, outside                             int64
	wiphy, request, pid, freq, beacon, aborted        scan.Col
	ssids, wanted, comm, dev, ssid, step, band, chann scan.Col
}

func newWifiScan(in *engine.Input) engine.Fold {
	f := &wifiScan{in: in, compat: in.Flag("compat"), radios: map[uint64]int64{}, wiphy: in.Int("wiphy"), request: in.Int("scan_request"), pid: in.Int("pid"),
		freq: in.Int("center_freq"), beacon: in.Int("beacon_found"), aborted: in.Int("aborted"), ssids: in.Int("ssid_count"), wanted: in.Int("channel_count"),
		comm: in.Str("comm"), dev: in.Str("dev"), ssid: in.Str("ssid"), step: in.Str("scan_step"), band: in.Str("wifi_band"), chann: in.Int("channel")}
	in.On("wifi_scan", f.scan)
	in.Use("wifi_channel", "there are no channels", f.channel)
	f.t = in.Table(render.Spec{Name: "scans", Look: render.Lines, Columns: []render.Column{render.Col("time", render.Clock).Text("time", -8).ForPeople(),
		render.Col("what", render.String).Text("what", 0), render.Col("dev", render.String), render.Col("wiphy", render.Addr),
		render.Col("pid", render.Int), render.Col("comm", render.String), render.Col("band", render.String), render.Col("freq", render.Int).In("MHz"),
		render.Col("beacon_found", render.Int), render.Col("ms", render.Int).In("ms"), render.Col("aborted", render.Int), render.Col("ts_ns", render.Int).In("ns")}})
	if in.Flag("channels") {
		f.channels = newWifiChannels(in)
	}
	return f
}

func (f *wifiScan) scan(r *engine.Row) {
	key := scanKey{r.Uint(f.wiphy), r.Uint(f.request)}
	if r.Str(f.step) == "start" {
		f.scans++
		f.open.Begin(key, wifiRun{r.TS, f.scans})
		if len(f.radios) >= maxRadios {
			clear(f.radios)
		}
		f.radios[key.wiphy]++
		f.global = r.TS
		f.line(r, fmt.Sprintf("scan started (on-CPU PID %d, %s)", r.Int(f.pid), r.Str(f.comm)), f.asked(r))
		return
	}
	run, ok := f.open.End(key)
	original := f.global
	f.global = 0
	if ok {
		if f.radios[key.wiphy]--; f.radios[key.wiphy] <= 0 {
			delete(f.radios, key.wiphy)
		}
	}
	if ok != (original != 0) || ok && run.start != original {
		f.wrong++
	}
	if f.channels != nil && ok {
		f.channels.done(r.Str(f.dev), key.wiphy, run.number, r.TS)
	}
	if f.compat {
		run.start, ok = original, original != 0
	}
	f.end(r, run.start, ok)
}

// end writes the line of an end, if its start is known or the rule asks for it anyway.
func (f *wifiScan) end(r *engine.Row, start int64, ok bool) {
	switch {
	case ok:
		f.put(r, fmt.Sprintf("scan completed: %d ms", (r.TS-start)/1e6), f.how(r), (r.TS-start)/1e6, true)
	case !f.compat:
		f.put(r, "scan completed, its start was not seen", f.how(r), 0, false)
	}
}

func (f *wifiScan) channel(r *engine.Row) {
	if r.Uint(f.chann) == 0 {
		return
	}
	where := ""
	if f.radios[r.Uint(f.wiphy)] <= 0 {
		f.outside++
		where = " (no scan)"
	} else if f.channels != nil {
		f.channels.add(r.Uint(f.wiphy), r.TS, r.Str(f.band), r.Int(f.freq), r.Int(f.beacon))
	}
	f.line(r, fmt.Sprintf("scanning channel %s freq %d: beacon_found %d", r.Str(f.band), r.Int(f.freq), r.Int(f.beacon)), where)
}
