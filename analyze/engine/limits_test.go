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
