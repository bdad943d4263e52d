package agg

import "testing"

func TestSampleMedian(t *testing.T) {
	var s Sample
	if s.Median() != 0 {
		t.Error("median of nothing")
	}
	for _, v := range []int64{9, 1, 5, 7} {
		s.Add(v)
	}
	if got := s.Median(); got != 5 {
		t.Errorf("median %d of 1 5 7 9, want 5", got)
	}
	var many Sample
	for v := range int64(100_001) {
		many.Add(v)
	}
	if got := many.Median(); got < 49_500 || got > 50_500 || len(many.vs) > sampleRoom {
		t.Errorf("median %d of 0 to 100,000 from %d values", got, len(many.vs))
	}
}
