package record

import (
	"testing"
	"time"

	"netrec/schema"
)

func TestPace(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		took []time.Duration
		want time.Duration
	}{
		{"at the start", nil, 750 * ms},
		{"quick", []time.Duration{20 * ms, 30 * ms}, 750 * ms},
		{"slow", []time.Duration{20 * ms, 200 * ms}, 500 * ms},
		{"slow, then quick", []time.Duration{200 * ms, 20 * ms}, 550 * ms},
		{"too slow", []time.Duration{5 * time.Second}, 250 * ms},
	} {
		p := pace{within: DefaultWithin}
		for _, took := range c.took {
			p.note(took)
		}
		if got := p.every(); got != c.want {
			t.Errorf("%s: every %s, want %s", c.name, got, c.want)
		}
	}
	p := pace{within: DefaultWithin}
	p.note(5 * time.Second)
	for range 100 {
		p.note(10 * ms)
	}
	if p.every() != 750*ms {
		t.Errorf("a slow commit long ago: every %s", p.every())
	}
	if seldom := (pace{within: 8 * time.Second}); seldom.every() != 6*time.Second {
		t.Errorf("within 8 s: every %s", seldom.every())
	}
}

// TestIdle: a pile with nothing but the recorder's own use can wait, any other cannot.
func TestIdle(t *testing.T) {
	p := newPile(1, &pool{})
	if err := p.own(costEvent.ID, schema.Cost{}); err != nil || !p.idle() {
		t.Errorf("a pile with the recorder's use alone is not idle: %v", err)
	}
	for name, add := range map[string]func(*pile) error{
		"an event": func(p *pile) error {
			e := schema.ByName("tcp_state")
			p.add(e.ID, 0, make([]byte, e.Size()))
			return nil
		},
		"a loss":             func(p *pile) error { return p.own(lostEvent.ID, schema.Lost{}) },
		"a turn to a file":   func(p *pile) error { p.then = &turn{}; return nil },
		"a fact of the host": func(p *pile) error { return p.own(metaEvent.ID, schema.Meta{}) },
	} {
		p := newPile(1, &pool{})
		if err := add(p); err != nil || p.idle() {
			t.Errorf("a pile with %s is idle: %v", name, err)
		}
	}
}
