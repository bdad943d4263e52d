package schema

import (
	"math"
	"testing"
)

func TestSpent(t *testing.T) {
	const second = int64(1e9)
	for _, c := range []struct {
		s    Spent
		want string
	}{
		{Spent{CPUs: 2, Length: 10 * second, Noted: 10 * second, Recorder: second / 2, Bytes: 23_400_000, Probes: ProbeTime{NS: 38e7, Rows: 1}},
			"recorder 2.5 % of the host's CPU time, probes about 1.9 % (estimated), 2.3 MB/s written"},
		{Spent{CPUs: 64, Length: 10 * second, Noted: 8 * second, Recorder: second / 2, Bytes: 45_678},
			"recorder 0.10 % of the host's CPU time, 4.6 kB/s written"},
		{Spent{CPUs: 1, Length: second, Noted: second, Recorder: 3e7, Probes: ProbeTime{NS: 99, Rows: 1}},
			"recorder 3.0 % of the host's CPU time, probes about 0 % (estimated)"},
		{Spent{CPUs: 1, Length: second, Noted: second, Recorder: 3e7, Probes: ProbeTime{NS: 99, Rows: 1, More: true}},
			"recorder 3.0 % of the host's CPU time"}, // that it took more than nothing tells nothing
		{Spent{CPUs: 1, Length: second, Bytes: 789, Probes: ProbeTime{NS: 1e7, Rows: 1, More: true}},
			"probes about 1.0 % or more of the host's CPU time (estimated), 789 B/s written"},
		{Spent{Length: second, Noted: second, Recorder: second, Bytes: 1000}, "1.0 kB/s written"}, // CPUs not known
		{Spent{CPUs: 2, Length: -1, Noted: -second, Recorder: -second, Bytes: 1}, ""},
		{Spent{CPUs: 1, Length: 1, Noted: 1, Recorder: math.MaxInt64, Probes: ProbeTime{NS: math.Inf(1)}}, ""}, // more than there is
		{Spent{}, ""},
	} {
		if got := c.s.String(); got != c.want {
			t.Errorf("%+v:\n%q, want\n%q", c.s, got, c.want)
		}
	}
}

// An event that nobody measured makes an estimate a lower bound, as do filters and shares.
func TestProbeTime(t *testing.T) {
	var p ProbeTime
	io := ByName("sock_io")
	p.Add(io, 3)
	p.Add(ByName("cost"), 5)
	p.Add(io, -7)
	if want := 3 * float64(probeNS["sock_io"]); p.NS != want || want == 0 || p.Rows != 3 || p.More {
		t.Errorf("%+v, want %v ns for 3 rows", p, want)
	}
	p.Add(&Event{Name: "unheard_of", Ladder: []Rung{{{Kind: RawTP}}}}, 1)
	if p.Rows != 3 || !p.More {
		t.Errorf("%+v after an event that was not measured", p)
	}
	thin := []EventHooks{{Event: "sock_io"}, {Event: "dev_recv", Share: &Share{Keep: 1, Of: 16}}}
	for _, c := range []struct {
		rec   Recording
		hooks []EventHooks
		want  bool
	}{
		{Recording{}, thin[:1], false},
		{Recording{}, []EventHooks{{Share: &Share{Keep: 1, Of: 1}}}, false},
		{Recording{}, thin, true},
		{Recording{Filters: map[string]string{"port": "443"}}, nil, true},
		{Recording{Sample: &Sample{Keep: 1, Of: 4}}, nil, true},
	} {
		if got := c.rec.Picks(c.hooks); got != c.want {
			t.Errorf("%+v, %v: %v", c.rec, c.hooks, got)
		}
	}
}
