package agg

import "testing"

func TestGaps(t *testing.T) {
	var none *Gaps
	if none.Any() || none.Between(0, 1<<62) {
		t.Error("a nil Gaps has gaps")
	}
	g := &Gaps{}
	g.Add(300, 400)
	g.Add(100, 150)
	g.Add(140, 200) // overlaps the one before
	g.Settle()
	for _, c := range []struct{ now, want int64 }{{99, 0}, {100, 100}, {170, 170}, {250, 200}, {399, 399}, {1 << 40, 400}, {120, 120}} {
		if got := g.Last(c.now); got != c.want {
			t.Errorf("until %d a row may be missing at %d, want %d", c.now, got, c.want)
		}
	}
	for _, c := range []struct {
		after, until int64
		want         bool
	}{{0, 99, false}, {50, 101, true}, {200, 299, false}, {199, 299, true}, {350, 360, true}, {400, 500, false}} {
		if got := g.Between(c.after, c.until); got != c.want {
			t.Errorf("between %d and %d: %v", c.after, c.until, got)
		}
	}
}

// TestGapsBounded: a file with more gaps than there is room for has wider ones, and none less.
func TestGapsBounded(t *testing.T) {
	g := &Gaps{}
	for i := range int64(maxGaps + maxGaps/2) {
		g.Add(i*2000, i*2000+1)
	}
	g.Settle()
	if len(g.spans) > maxGaps || !g.Between(1_999_999, 2_000_001) || !g.Between(0, 1) {
		t.Errorf("%d gaps", len(g.spans))
	}
}

// TestMayFollow: what a session was seen in last and what it comes from next.
func TestMayFollow(t *testing.T) {
	for _, c := range []struct {
		state, next string
		want        bool
	}{{"SYN_SENT", "ESTABLISHED", true}, {"ESTABLISHED", "FIN_WAIT2", true}, {"SYN_RECV", "LAST_ACK", true}, {"ESTABLISHED", "CLOSE", true}, {"", "CLOSE_WAIT", true},
		{"CLOSE", "SYN_SENT", false}, {"ESTABLISHED", "SYN_RECV", false}, {"FIN_WAIT1", "LAST_ACK", false}, {"LISTEN", "ESTABLISHED", false}, {"FIN_WAIT2", "CLOSING", false}} {
		if got := mayFollow(c.state, c.next); got != c.want {
			t.Errorf("%s, then from %s: %v", c.state, c.next, got)
		}
	}
}
