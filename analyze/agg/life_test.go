package agg

import "testing"

// TestValueAtTheEndTakesNoSlot: who asks for every socket's value only when it ends keeps none
// of them. A file may have a million sockets, and all of them end with it.
func TestValueAtTheEndTakesNoSlot(t *testing.T) {
	var p PerSocket[int]
	last := &Socket{slot: 1 << 20, Serial: 5, over: true}
	*p.Of(last) = 7
	if got := *p.Of(last); got != 7 || len(p.vs) != 0 {
		t.Errorf("at the end %d, %d slots", got, len(p.vs))
	}
	if got := *p.Of(&Socket{slot: 1<<20 + 1, Serial: 6, over: true}); got != 0 {
		t.Errorf("the next one has the value of another: %d", got)
	}
	living := &Socket{slot: 2, Serial: 7}
	*p.Of(living) = 9
	living.over = true
	if got := *p.Of(living); got != 9 {
		t.Errorf("what it had while it lived is %d at the end", got)
	}
}
