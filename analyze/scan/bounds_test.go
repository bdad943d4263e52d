package scan

import (
	"errors"
	"math"
	"strings"
	"testing"

	"netrec/schema"
)

// TestImpossibleNumbers: what is beyond any recorder is 0 and said, so that nobody makes lists or
// sums of it.
func TestImpossibleNumbers(t *testing.T) {
	kv := map[string]string{
		schema.KeyHost:  `{"name":"h","cpus":9223372036854775807,"zone_offset_s":-9223372036854775808}`,
		schema.KeyClock: `[{"mono_ns":-1,"wall_ns":9223372036854775807,"jitter_ns":3}]`,
		schema.KeyRecording: `{"start_ns":-5,"stop_ns":4611686018427387904,"attach_ns":7,"end":"timer","part":{"id":"x","index":-3,"began_ns":-1},
			"libraries":[{"since_ns":-1}],"late":[{"since_ns":-1}],"late_modules":[{"since_ns":-1}]}`,
		schema.KeyHooks:  `[{"event":"tcp_state","state":"attached","came_ns":[1,-1]}]`,
		schema.KeyLosses: `[{"event":"tcp_state","generated":9223372036854775807,"recorded":-1,"lost_ring":5}]`,
	}
	f, err := open(t, plainFile(t, kv, [][]wide{{rowAt(0, "tcp_state")}}), Options{})
	must(t, err)
	m := f.Meta()
	r := &m.Recording
	for i, n := range []int64{int64(m.Host.CPUs), int64(m.Host.Offset), m.Clock[0].Mono, m.Clock[0].Wall, r.StartNS, r.StopNS, int64(r.Part.Index), r.Part.BeganNS,
		r.Libraries[0].SinceNS, r.Late[0].SinceNS, r.Modules[0].SinceNS, m.Hooks[0].CameNS[1], m.Losses[0].Generated, m.Losses[0].Recorded} {
		if n != 0 {
			t.Errorf("number %d is %d", i, n)
		}
	}
	if m.Host.Name != "h" || m.Clock[0].Jitter != 3 || r.AttachNS != 7 || m.Hooks[0].CameNS[0] != 1 || m.Losses[0].Ring != 5 {
		t.Errorf("possible numbers went too: %+v", m)
	}
	if said := strings.Join(m.Problems, "\n"); strings.Count(said, "impossible") != 14 || !strings.Contains(said, "netrec.host: cpus of 9223372036854775807 is impossible") {
		t.Errorf("problems:\n%s", said)
	}
}

// TestImpossibleTimes: rows of a time that cannot be are damage. A recording loses the row group,
// not the others.
func TestImpossibleTimes(t *testing.T) {
	for _, ts := range []int64{-1, math.MinInt64, maxTime + 1, math.MaxInt64} {
		bad, good := rowAt(0, "tcp_state"), rowAt(1, "tcp_state")
		bad.TS = ts
		f, err := open(t, framedFile(t, [][][]wide{{{bad, bad}, {good}}}, nil), Options{})
		must(t, err)
		got, err := scanAll(f, Query{})
		must(t, err)
		same(t, got, []string{good.String()})
		m := f.Meta()
		if said := strings.Join(m.Problems, "\n"); !strings.Contains(said, "a row group of 2 rows is unreadable and was left out: damaged capture: column ts_ns: a time before 1970 or after 2116") {
			t.Errorf("time %d: problems %s", ts, said)
		}
		if m.FirstNS != good.TS || m.LastNS != good.TS || m.Rows["tcp_state"] != 1 {
			t.Errorf("time %d: from %d to %d, rows %v", ts, m.FirstNS, m.LastNS, m.Rows)
		}
		if _, err := open(t, plainFile(t, nil, [][]wide{{bad}}), Options{}); !errors.Is(err, ErrDamaged) {
			t.Errorf("time %d in a file of another program: %v", ts, err)
		}
	}
	for _, ts := range []int64{0, maxTime} {
		row := rowAt(0, "tcp_state")
		row.TS = ts
		f, err := open(t, plainFile(t, nil, [][]wide{{row}}), Options{})
		must(t, err)
		if m := f.Meta(); m.FirstNS != ts || m.LastNS != ts {
			t.Errorf("time %d: from %d to %d", ts, m.FirstNS, m.LastNS)
		}
	}
}

// Changes of shares that no recorder makes would scale answers; they are left out.
func TestBoundBudget(t *testing.T) {
	b := &schema.Budget{OverNS: -1, Changes: []schema.ShareChange{{Class: schema.ClassConns, Of: 3, SinceNS: 5}, {Class: schema.ClassConns, Of: 2, SinceNS: 7, Seen: []schema.Seen{{Event: "sock_io", Kept: -1, Left: 1 << 60}}},
		{Class: schema.ClassConns, Of: 4, SinceNS: 6}, {Class: schema.ClassConns, Of: 1 << 11, SinceNS: 8}, {Class: schema.ClassConns, SinceNS: 8}, {Class: schema.ClassConns, Of: 1, SinceNS: maxTime + 1}}}
	var p problems
	boundBudget(&p, b)
	if len(b.Changes) != 1 || b.Changes[0].Of != 2 || b.Changes[0].Seen[0] != (schema.Seen{Event: "sock_io"}) || b.OverNS != 0 || len(p.list) != 8 {
		t.Errorf("%+v, %d problems: %q", b, len(p.list), p.list)
	}
}
