package schema

import (
	"slices"
	"testing"
)

// Stretches lie between changes of their class; what their rows stand for is what was counted, where
// that is known.
func TestBudgetThinned(t *testing.T) {
	seen := func(kept, left int64) []Seen { return []Seen{{"tcp_rcv_est", 7, 7}, {"sock_io", kept, left}} }
	b := &Budget{Changes: []ShareChange{
		{ClassConns, 2, 10, seen(1000, 0)},
		{ClassPackets, 4, 15, nil},
		{ClassConns, 8, 20, seen(1100, 300)},
		{ClassConns, 1, 30, seen(1100, 900)}, // of nobody that was kept: with the next
		{ClassConns, 2, 40, seen(5000, 900)},
		{ClassConns, 4, 50, seen(5400, 1300)},
	}, End: seen(5410, 1390)} // too few: with those before
	for _, c := range []struct {
		event string
		want  []Stretch
	}{
		{"sock_io", []Stretch{{2, 10, 20, 4}, {8, 20, 30, 1 + 1090./410}, {2, 40, 50, 1 + 1090./410}, {4, 50, 99, 1 + 1090./410}}},
		{"tcp_msg", []Stretch{{2, 10, 20, 0}, {8, 20, 30, 0}, {2, 40, 50, 0}, {4, 50, 99, 0}}},
		{"dev_queue", []Stretch{{4, 15, 99, 0}}},
		{"tcp_state", nil},
	} {
		if got := b.Thinned(ByName(c.event), 99); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.event, got, c.want)
		}
	}
	if b.Least(ClassConns) != 8 || b.Least(ClassPackets) != 4 || (*Budget)(nil).Least(ClassConns) != 1 {
		t.Errorf("least shares 1/%d and 1/%d", b.Least(ClassConns), b.Least(ClassPackets))
	}
}

// Events that tell what went wrong are never thinned.
func TestRareEventsHaveNoClass(t *testing.T) {
	for i := range Events {
		if e := &Events[i]; e.Rare() && e.Class() != "" {
			t.Errorf("rare event %s is thinned with %s", e.Name, e.Class())
		}
	}
}
