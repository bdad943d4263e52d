package agg

// maxSpans bounds what a file can make Spans remember.
const maxSpans = 1 << 22

// Spans joins a beginning and an end by key.
type Spans[K comparable] struct {
	m       map[K]int64
	Stale   int64 // beginnings replaced by another before their end
	Refused int64 // beginnings for which there was no room
}

// Begin notes the start of a span. A start that is still open is replaced.
func (s *Spans[K]) Begin(key K, ts int64) {
	if s.m == nil {
		s.m = map[K]int64{}
	}
	before := len(s.m)
	if before >= maxSpans {
		if _, ok := s.m[key]; !ok {
			s.Refused++
			return
		}
	}
	s.m[key] = ts
	if len(s.m) == before {
		s.Stale++
	}
}

// Open reports whether a span of the key has begun, and when.
func (s *Spans[K]) Open(key K) (int64, bool) {
	ts, ok := s.m[key]
	return ts, ok
}

// End closes the span and gives its start; false if none was open.
func (s *Spans[K]) End(key K) (int64, bool) {
	ts, ok := s.m[key]
	if ok {
		delete(s.m, key)
	}
	return ts, ok
}

// Len is how many spans are open.
func (s *Spans[K]) Len() int { return len(s.m) }
