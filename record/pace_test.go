package record

import (
	"testing"
	"time"
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
		var p pace
		for _, took := range c.took {
			p.note(took)
		}
		if got := p.every(); got != c.want {
			t.Errorf("%s: every %s, want %s", c.name, got, c.want)
		}
	}
	var p pace
	p.note(5 * time.Second)
	for range 100 {
		p.note(10 * ms)
	}
	if p.every() != 750*ms {
		t.Errorf("a slow commit long ago: every %s", p.every())
	}
}
