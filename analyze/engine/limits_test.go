package engine

import (
	"slices"
	"testing"

	"netrec/analyze/scan"
	"netrec/schema"
)

// What the recorder was told to leave out limits every answer.
func TestFiltersAreLimits(t *testing.T) {
	m := &scan.Meta{Recording: schema.Recording{Filters: map[string]string{"port": "443,80", "addr": "10.0.0.0/8"},
		Sample: &schema.Sample{Keep: 1, Of: 16, Seed: 7}}}
	want := []string{"sampled: 1 of 16 connections", "recorded with filters: addr=10.0.0.0/8 port=443,80"}
	if got := filters(m); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := filters(&scan.Meta{}); got != nil {
		t.Errorf("without filters: %q", got)
	}
}

// A clock that is set while the recorder runs limits every answer; one that is slewed does not.
func TestClockStepIsALimit(t *testing.T) {
	for _, c := range []struct {
		name string
		wall int64 // at the end, beyond what the monotonic clock says
		want []string
	}{
		{"steady", 0, nil},
		{"slewed", 40e6, nil}, // 400 in a million
		{"set ahead", 3600e9 + 7, []string{"the host's clock was set or the host slept: at the end its clock was 1h0m0s ahead of the times shown, which follow the clock at the start"}},
		{"set back", -250e6, []string{"the host's clock was set or the host slept: at the end its clock was 250ms behind the times shown, which follow the clock at the start"}},
	} {
		anchors := []schema.Anchor{{At: "start", Mono: 5e9, Wall: 1772373120e9, Jitter: 300}, {At: "stop", Mono: 105e9, Wall: 1772373220e9 + c.wall, Jitter: 200}}
		if got := clockStep(anchors); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := clockStep([]schema.Anchor{{Mono: 1, Wall: 2}}); got != nil {
		t.Errorf("one anchor alone: %q", got)
	}
	in := &Input{Meta: &scan.Meta{Hooks: []schema.EventHooks{{Event: "tcp_state"}}, Clock: []schema.Anchor{{}, {Mono: 1e9, Wall: 2e9}}}}
	if got := in.limits(&Selection{}); len(got) != 1 || got[0] != clockStep(in.Meta.Clock)[0] {
		t.Errorf("limits of an answer: %q", got)
	}
}
