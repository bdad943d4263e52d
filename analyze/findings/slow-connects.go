package findings

import (
	"cmp"
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// The default is longer than a round trip around the world, and shorter than the second after
// which TCP sends its SYN again.
var slowConnects = Rule{
	Name: "slow-connects", Default: 350e6, Unit: Duration, Any: []string{"tcp_state"},
	About: "time from the SYN until a connect is answered",
	New:   newSlowConnects,
}

// slowConnectsLeast is how many slow connects to one place make a finding, if they are not
// half of all: one lost SYN in many is usual.
const slowConnectsLeast = 3

// dialling is a connect under way.
type dialling struct {
	since int64
	syns  int64 // retransmitted
}

// dials are the connects to one place.
type dials struct {
	all, slow, open, syns int64
	longest, at, least    int64
	sock                  agg.Socket
}

// dialled follows connects.
type dialled struct {
	in     *engine.Input
	limit  float64
	socks  agg.PerSocket[dialling]
	places agg.Keyed[place, dials]
	names  agg.Intern
	again  *engine.Resent

	OldState, NewState, State scan.Str
}

func newSlowConnects(in *engine.Input, limit float64, found *Shelf) func() {
	f := &dialled{in: in, limit: limit, again: in.Resent()}
	in.Bind(f)
	in.Use("tcp_state", "", f.change)
	in.Use("tcp_retrans", "", func(r *engine.Row) {
		if r.Str(f.State) == "SYN_SENT" {
			f.socks.Of(r.Sock).syns += f.again.Segments(r)
		}
	})
	in.OnEnd(f.ended)
	return func() {
		for _, k := range f.places.Sorted(func(d *dials) int64 { return -d.longest }, place.compare) {
			d := f.places.At(k)
			if d.slow > 0 && (d.slow >= slowConnectsLeast || 2*d.slow >= d.all) {
				found.Add(f.finding(k, d))
			}
		}
	}
}

func (f *dialled) change(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	v := f.socks.Of(r.Sock)
	switch {
	case r.Str(f.NewState) == "SYN_SENT":
		v.since = r.TS
	case r.Str(f.OldState) == "SYN_SENT" && r.Str(f.NewState) == "ESTABLISHED" && v.since != 0:
		f.took(r.Sock, v, r.TS-v.since)
		v.since = 0
	case r.Str(f.NewState) == "CLOSE":
		v.since = 0 // failed-connects has it
	}
}

// ended takes connects that had no answer by the end of the recording, not to another SYN either.
func (f *dialled) ended(s *agg.Socket) {
	v := f.socks.Of(s)
	if v.since == 0 || !s.Open || v.syns == 0 || float64(f.in.End()-v.since) < f.limit {
		return
	}
	if d := f.took(s, v, f.in.End()-v.since); d != nil {
		d.open++
	}
}

func (f *dialled) took(s *agg.Socket, v *dialling, ns int64) *dials {
	d := f.places.At(place{s.Netns, f.names.Get(s.Raddr), s.Rport})
	if d == nil {
		return nil
	}
	if d.all++; d.all == 1 || ns < d.least {
		d.least = ns
	}
	if float64(ns) < f.limit {
		return d
	}
	if d.slow++; v.syns > 0 {
		d.syns++
	}
	if ns > d.longest {
		d.longest, d.at, d.sock = ns, v.since, *s
	}
	return d
}

func (f *dialled) finding(k place, d *dials) Finding {
	v := Finding{Level: Slow, Over: float64(d.longest) / f.limit, At: d.at, Next: fmt.Sprintf("soconnlat --port %d", k.port)}.of(&d.sock)
	to := render.Endpoint(k.addr, k.port)
	v.What = fmt.Sprintf("%s of %s to %s were slow, up to %s", engine.Thousands(d.slow), many(d.all, "connect", "connects"), to, span(d.longest))
	if d.open == d.all {
		v.Next = show("sock", &d.sock) // there is no latency to show
		v.Level, v.What = Bad, fmt.Sprintf("%s to %s had no answer, for up to %s", many(d.all, "connect", "connects"), to, span(d.longest))
	}
	said := []string{fmt.Sprintf("longest by %s from %s, fastest %s", owner(d.sock.Pid, d.sock.Comm), at(f.in, d.at), span(d.least))}
	if d.syns > 0 {
		said = append(said, fmt.Sprintf("%s retransmitted their SYN", engine.Thousands(d.syns)))
	}
	if d.open > 0 {
		said = append(said, fmt.Sprintf("%s without an answer when the recording ended", engine.Thousands(d.open)))
	}
	v.Evidence = strings.Join(said, "; ")
	return v
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.addr, o.addr), cmp.Compare(p.port, o.port), cmp.Compare(p.netns, o.netns))
}
