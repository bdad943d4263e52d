package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
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
	t        *render.List[wifiLine]
	open     agg.Pending[scanKey, wifiRun]
	radios   map[uint64]int64 // how many scans run, by wiphy
	channels *wifiChannels
	compat   bool
	global   int64 // start, as the original keeps it

	scans, wrong, outside int64

	Wiphy, ScanRequest, Pid, CenterFreq, BeaconFound, Aborted, SsidCount, ChannelCount scan.Int
	Channel                                                                            scan.Int
	Comm, Dev, Ssid, ScanStep, WifiBand                                                scan.Str
}

func newWifiScan(in *engine.Input) engine.Fold {
	f := &wifiScan{in: in, compat: in.Flag("compat"), radios: map[uint64]int64{}}
	in.Bind(f)
	in.On("wifi_scan", f.scan)
	in.Use("wifi_channel", "there are no channels", f.channel)
	f.t = render.ListOf(in.Table, render.Spec{Name: "scans", Look: render.Lines}, f.fields()...)
	if in.Flag("channels") {
		f.channels = newWifiChannels(in)
	}
	return f
}

// wifiLine is a row as a line shows it.
type wifiLine struct {
	*engine.Row
	what  string
	ms    int64
	ended bool // ms is how long the scan took
}

func (f *wifiScan) fields() []render.Field[wifiLine] {
	ts := func(l *wifiLine) int64 { return l.TS }
	number := func(c scan.Int) func(*wifiLine) (int64, bool) {
		return func(l *wifiLine) (int64, bool) { return l.Int(c), l.Has(c) }
	}
	return []render.Field[wifiLine]{
		line.TimeOfDay(f.in, ts).Text("time", -8),
		render.Text("what", func(l *wifiLine) string { return l.what }).Text("what", 0),
		render.TextOr("dev", func(l *wifiLine) string { return l.Str(f.Dev) }),
		render.Address("wiphy", func(l *wifiLine) uint64 { return l.Uint(f.Wiphy) }),
		render.Num("pid", func(l *wifiLine) int64 { return l.Int(f.Pid) }),
		render.Text("comm", func(l *wifiLine) string { return l.Str(f.Comm) }),
		render.TextOr("band", func(l *wifiLine) string { return l.Str(f.WifiBand) }),
		render.NumOr("freq", number(f.CenterFreq)).In("MHz"),
		render.NumOr("beacon_found", number(f.BeaconFound)),
		render.NumOr("ms", func(l *wifiLine) (int64, bool) { return l.ms, l.ended }).In("ms"),
		render.NumOr("aborted", number(f.Aborted)),
		render.Num("ts_ns", ts).In("ns"),
	}
}

func (f *wifiScan) scan(r *engine.Row) {
	key := scanKey{r.Uint(f.Wiphy), r.Uint(f.ScanRequest)}
	if r.Str(f.ScanStep) == "start" {
		f.scans++
		f.open.Begin(key, wifiRun{r.TS, f.scans})
		if len(f.radios) >= maxRadios {
			clear(f.radios)
		}
		f.radios[key.wiphy]++
		f.global = r.TS
		f.line(r, fmt.Sprintf("scan started (on-CPU PID %d, %s)", r.Int(f.Pid), r.Str(f.Comm)), f.asked(r))
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
		f.channels.done(r.Str(f.Dev), key.wiphy, run.number, r.TS)
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
	if r.Uint(f.Channel) == 0 {
		return
	}
	where := ""
	if f.radios[r.Uint(f.Wiphy)] <= 0 {
		f.outside++
		where = " (no scan)"
	} else if f.channels != nil {
		f.channels.add(r.Uint(f.Wiphy), r.TS, r.Str(f.WifiBand), r.Int(f.CenterFreq), r.Int(f.BeaconFound))
	}
	f.line(r, fmt.Sprintf("scanning channel %s freq %d: beacon_found %d", r.Str(f.WifiBand), r.Int(f.CenterFreq), r.Int(f.BeaconFound)), where)
}

// asked is what a scan looks for.
func (f *wifiScan) asked(r *engine.Row) string {
	s := fmt.Sprintf(" %s: %s", r.Str(f.Dev), engine.Plural(r.Int(f.ChannelCount), "channel", "channels"))
	switch n := r.Int(f.SsidCount); {
	case n == 0:
		s += ", listening only"
	case r.Str(f.Ssid) == "":
		s += ", any network"
	case n > 1:
		s += fmt.Sprintf(", %q and %d more", r.Str(f.Ssid), n-1)
	default:
		s += fmt.Sprintf(", %q", r.Str(f.Ssid))
	}
	return s
}

// how is which radio a scan was on, and if it was given up.
func (f *wifiScan) how(r *engine.Row) string {
	if r.Int(f.Aborted) != 0 {
		return ", given up, " + r.Str(f.Dev)
	}
	return ", " + r.Str(f.Dev)
}

func (f *wifiScan) line(r *engine.Row, what, more string) { f.put(r, what, more, 0, false) }

// put writes a line; what follows the original's text is left out with --compat.
func (f *wifiScan) put(r *engine.Row, what, more string, ms int64, ended bool) {
	if !f.compat {
		what += more
	}
	f.t.Line(wifiLine{r, what, ms, ended})
}

// Finish shows the channels and tells the rules apart.
func (f *wifiScan) Finish(a *render.Answer) {
	if f.channels != nil {
		f.channels.t.Show()
	}
	if n := f.open.Len(); n > 0 {
		a.Note(engine.Plural(int64(n), "scan", "scans") + " not finished at the end of the recording")
	}
	if f.outside > 0 {
		a.Note(engine.Plural(f.outside, "lookup", "lookups") + " of a channel while its radio was not scanning")
	}
	if f.wrong > 0 {
		a.Note(fmt.Sprintf("%s; the original (--compat) gives %s another time or none, because it keeps one start for all radios",
			engine.Plural(f.scans, "scan", "scans"), engine.Thousands(f.wrong)))
	}
}

// wifiChannel is one channel in a scan.
type wifiChannel struct {
	scan                  int64
	dev                   string
	band                  string
	freq, lookups, beacon int64
	dwell                 int64 // ns until the next channel
}

// visit is the scan of a radio: its channels, and the one it is on.
type visit struct {
	all  []wifiChannel
	on   int
	last int64
}

// wifiChannels sums scans up by channel.
type wifiChannels struct {
	t     *render.List[wifiChannel]
	now   map[uint64]*visit // by wiphy
	names agg.Intern
}

var wifiChannelFields = []render.Field[wifiChannel]{
	render.Num("scan", func(c *wifiChannel) int64 { return c.scan }).Text("SCAN", 4),
	render.Text("dev", func(c *wifiChannel) string { return c.dev }).Text("DEV", -10),
	render.Text("band", func(c *wifiChannel) string { return c.band }).Text("BAND", -5),
	render.Num("freq", func(c *wifiChannel) int64 { return c.freq }).Text("FREQ", 6).In("MHz"),
	render.Num("lookups", func(c *wifiChannel) int64 { return c.lookups }).Text("LOOKUPS", 7),
	render.Num("beacon_found", func(c *wifiChannel) int64 { return c.beacon }).Text("BEACON", 6),
	render.Num("dwell_ms", func(c *wifiChannel) int64 { return c.dwell / 1e6 }).Text("DWELL_ms", 8).In("ms"),
}

func newWifiChannels(in *engine.Input) *wifiChannels {
	f := &wifiChannels{now: map[uint64]*visit{}, t: render.ListOf(in.Table, render.Spec{Name: "channels"}, wifiChannelFields...)}
	f.t.Hold(1 << 16)
	return f
}

// maxWifiChannels is more than all bands together have.
const maxWifiChannels = 1024

// add counts a lookup; the time since the one before belongs to the channel of that.
func (f *wifiChannels) add(wiphy uint64, ts int64, band string, freq, beacon int64) {
	v := f.now[wiphy]
	if v == nil {
		if len(f.now) >= maxRadios {
			clear(f.now)
		}
		v = &visit{on: -1}
		f.now[wiphy] = v
	}
	v.leave(ts)
	v.on = slices.IndexFunc(v.all, func(c wifiChannel) bool { return c.freq == freq })
	if v.on < 0 && len(v.all) < maxWifiChannels {
		v.on, v.all = len(v.all), append(v.all, wifiChannel{band: f.names.Get(band), freq: freq})
	}
	if v.on >= 0 {
		c := &v.all[v.on]
		c.lookups, c.beacon = c.lookups+1, max(c.beacon, beacon)
	}
}

func (v *visit) leave(ts int64) {
	if v.on >= 0 {
		v.all[v.on].dwell += ts - v.last
	}
	v.last = ts
}

// done lists the channels of a scan that is over.
func (f *wifiChannels) done(dev string, wiphy uint64, scan, ts int64) {
	v := f.now[wiphy]
	if v == nil {
		return
	}
	v.leave(ts)
	slices.SortStableFunc(v.all, func(a, b wifiChannel) int { return cmp.Compare(a.freq, b.freq) })
	for _, c := range v.all {
		c.scan, c.dev = scan, dev
		f.t.Line(c)
	}
	delete(f.now, wiphy)
}
