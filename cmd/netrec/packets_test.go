package main

import (
	"testing"

	"netrec/record"
	"netrec/schema"
)

// What is recorded of packets without a word about them, and with one.
func TestPacketsShare(t *testing.T) {
	sixteenth, quarter := &schema.Share{Keep: 1, Of: 16}, &schema.Share{Keep: 1, Of: 4}
	for name, c := range map[string]struct {
		profile schema.Profile
		events  []string
		packets string
		want    *schema.Share
		thin    bool // events of packets are recorded
	}{
		"default":            {schema.Default, nil, "", sixteenth, true},
		"default but one":    {schema.Default, []string{"-skb_alloc"}, "", sixteenth, true},
		"light":              {schema.Light, nil, "", nil, false},
		"full":               {schema.Full, nil, "", nil, true},
		"named":              {schema.Default, []string{"dev"}, "", nil, true},
		"all":                {schema.Default, nil, "all", nil, true},
		"none":               {schema.Default, nil, "none", nil, false},
		"a quarter":          {schema.Default, nil, "1/4", quarter, true},
		"a quarter of full":  {schema.Full, nil, "1/4", quarter, true},
		"a quarter of named": {schema.Default, []string{"dev"}, "1/4", quarter, true},
	} {
		t.Run(name, func(t *testing.T) {
			events, err := record.Select(c.events, c.profile)
			must(t, err)
			f := recordFlags{events: c.events, packets: c.packets, opt: record.Options{Events: events, Profile: c.profile}}
			must(t, f.share())
			if got := f.opt.Share; (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Errorf("share %v, want %v", got, c.want)
			}
			thin := false
			for _, e := range f.opt.Events {
				thin = thin || e.Drawn()
			}
			if thin != c.thin {
				t.Errorf("events of packets: %v, want %v", thin, c.thin)
			}
		})
	}
	for _, wrong := range []string{"16", "1/1", "2/1", "some", "0/4"} {
		if f := (recordFlags{packets: wrong}); f.share() == nil {
			t.Errorf("--packets %s is accepted", wrong)
		}
	}
}
