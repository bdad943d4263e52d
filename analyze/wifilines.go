package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// asked is what a scan looks for.
func (f *wifiScan) asked(r *engine.Row) string {
	s := fmt.Sprintf(" %s: %s", r.Str(f.dev), engine.Plural(r.Int(f.wanted), "channel", "channels"))
	switch n := r.Int(f.ssids); {
	case n == 0:
		s += ", listening only"
	case r.Str(f.ssid) == "":
		s += ", any network"
	case n > 1:
		s += fmt.Sprintf(", %q and %d more", r.Str(f.ssid), n-1)
	default:
		s += fmt.Sprintf(", %q", r.Str(f.ssid))
	}
	return s
}

// how is which radio a scan was on, and if it was given up.
func (f *wifiScan) how(r *engine.Row) string {
	if r.Int(f.aborted) != 0 {
		return ", given up, " + r.Str(f.dev)
	}
	return ", " + r.Str(f.dev)
}

func (f *wifiScan) line(r *engine.Row, what, more string) { f.put(r, what, more, 0, false) }

// put writes a line; what follows the original's text is left out with --compat.
func (f *wifiScan) put(r *engine.Row, what, more string, ms int64, ended bool) {
	if !f.compat {
		what += more
	}
	f.t.Int(f.in.Local(r.TS)).Str(what).StrOr(r.Str(f.dev)).Uint(r.Uint(f.wiphy)).Int(r.Int(f.pid)).Str(r.Str(f.comm)).StrOr(r.Str(f.band))
	f.t.IntOr(r.Int(f.freq), r.Has(f.freq)).IntOr(r.Int(f.beacon), r.Has(f.beacon)).IntOr(ms, ended).IntOr(r.Int(f.aborted), r.Has(f.aborted)).Int(r.TS).End()
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
	t     *render.Table
	now   map[uint64]*visit // by wiphy
	names agg.Intern
}

func newWifiChannels(in *engine.Input) *wifiChannels {
	return &wifiChannels{now: map[uint64]*visit{}, t: in.Table(render.Spec{Name: "channels", Columns: []render.Column{
		render.Col("scan", render.Int).Text("SCAN", 4), render.Col("dev", render.String).Text("DEV", -10), render.Col("band", render.String).Text("BAND", -5),
		render.Col("freq", render.Int).Text("FREQ", 6).In("MHz"), render.Col("lookups", render.Int).Text("LOOKUPS", 7),
		render.Col("beacon_found", render.Int).Text("BEACON", 6), render.Col("dwell_ms", render.Int).Text("DWELL_ms", 8).In("ms")}}).Hold(1 << 16)}
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
		f.t.Int(scan).Str(dev).Str(c.band).Int(c.freq).Int(c.lookups).Int(c.beacon).Int(c.dwell / 1e6).End()
	}
	delete(f.now, wiphy)
}
