package turns

import "testing"

// TestSlowest: a turn without an answer is as slow as somebody owed something in it, not as long as its connection idled after.
func TestSlowest(t *testing.T) {
	slow := Slowest(2)
	for _, s := range []struct{ sock, length, idle int64 }{{1, 250, 248}, {2, 14, 0}, {3, 11, 1}} {
		v := Slow{Sock: uint64(s.sock)}
		v.End, v.Split[Idle] = s.length, s.idle
		slow.Add(v)
	}
	got := slow.Sorted()
	if len(got) != 2 || got[0].Sock != 2 || got[1].Sock != 3 {
		t.Errorf("%v, want the turns of 2 and 3", got)
	}
}
