package agg

// Stats is count, sum, minimum and maximum of a series.
type Stats struct {
	Count, Sum, Min, Max int64
}

// Add counts a value.
func (s *Stats) Add(v int64) { s.AddN(v, 1) }

// AddN counts a value n times.
func (s *Stats) AddN(v, n int64) {
	if s.Count == 0 {
		s.Min, s.Max = v, v
	}
	s.Count += n
	s.Sum += v * n
	s.Min, s.Max = min(s.Min, v), max(s.Max, v)
}

// Average is the mean, truncated as the originals do, 0 if there is no value.
func (s *Stats) Average() int64 {
	if s.Count == 0 {
		return 0
	}
	return s.Sum / s.Count
}
