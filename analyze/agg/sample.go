package agg

import "slices"

// sampleRoom is how many values a Sample keeps.
const sampleRoom = 1024

// Sample keeps values to find their median. Up to 1024 values it is exact; of more it
// keeps every second, fourth, eighth … in the order they came.
type Sample struct {
	vs   []int64
	step int64 // every how many-th value is kept
	n    int64 // values seen
}

// Add takes a value.
func (s *Sample) Add(v int64) {
	if s.step == 0 {
		s.step = 1
	}
	if s.n++; (s.n-1)%s.step != 0 {
		return
	}
	if len(s.vs) >= sampleRoom {
		for i := range s.vs[:sampleRoom/2] {
			s.vs[i] = s.vs[2*i]
		}
		s.vs, s.step = s.vs[:sampleRoom/2], 2*s.step
		if (s.n-1)%s.step != 0 {
			return
		}
	}
	s.vs = append(s.vs, v)
}

// Median is the value in the middle, the lower of the two if there is none; 0 if there
// are no values.
func (s *Sample) Median() int64 {
	if len(s.vs) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s.vs))
	return sorted[(len(sorted)-1)/2]
}
