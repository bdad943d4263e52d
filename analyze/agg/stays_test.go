package agg

import "testing"

func TestStays(t *testing.T) {
	var s Stays
	s.Begin(1, 100, 5)
	s.Begin(1, 200, 7) // inside the first
	s.Begin(2, 100, 9)
	if p, ok := s.Last(1); !ok || p != 200 {
		t.Errorf("last place %d, %v", p, ok)
	}
	if _, ok := s.End(1, 300); ok {
		t.Error("left a place it never was at")
	}
	if ts, ok := s.End(1, 100); !ok || ts != 5 {
		t.Errorf("outer stay from %d, %v", ts, ok)
	}
	s.Inherit(1, 11)
	if ts, ok := s.End(11, 200); !ok || ts != 7 {
		t.Errorf("inherited stay from %d, %v", ts, ok)
	}
	s.Gone(1)
	if _, ok := s.End(1, 200); ok {
		t.Error("a packet that is gone still waits")
	}
	s.Begin(2, 100, 11)
	if ts, ok := s.End(2, 100); !ok || ts != 11 || s.Stale != 1 {
		t.Errorf("second beginning: %d, %v, %d stale", ts, ok, s.Stale)
	}
	if s.Len() != 0 {
		t.Errorf("%d packets left", s.Len())
	}
}

// TestStaysReuse runs far more stays than are open at once through the same memory.
func TestStaysReuse(t *testing.T) {
	var s Stays
	const n = 100_000
	for i := range uint64(n) {
		s.Begin(i%64, i%3, int64(i))
		s.Begin(i%64, 9, int64(i))
		if i%2 == 0 {
			s.Gone(i % 64)
			continue
		}
		for _, place := range []uint64{9, i % 3} {
			if ts, ok := s.End(i%64, place); !ok || ts != int64(i) {
				t.Fatalf("stay %d: began %d, %v", i, ts, ok)
			}
		}
	}
	if len(s.all) > 2 {
		t.Errorf("%d stays held, two were open at once", len(s.all))
	}
}
