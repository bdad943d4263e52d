package agg

// maxSpans bounds what a file can make Pending and Stays remember.
const maxSpans = 1 << 22

// Spans joins a beginning and an end by key: it holds the time of the beginning.
type Spans[K comparable] = Pending[K, int64]

// Pending holds what has begun and not ended yet.
type Pending[K comparable, V any] struct {
	m       map[K]V
	Stale   int64 // beginnings replaced by another before their end
	Refused int64 // beginnings for which there was no room
}

// Begin notes a beginning. One of the same key that is still open is replaced.
func (s *Pending[K, V]) Begin(key K, v V) {
	if s.m == nil {
		s.m = map[K]V{}
	}
	before := len(s.m)
	if before >= maxSpans {
		if _, ok := s.m[key]; !ok {
			s.Refused++
			return
		}
	}
	s.m[key] = v
	if len(s.m) == before {
		s.Stale++
	}
}

// Open reports whether something of the key has begun, and what.
func (s *Pending[K, V]) Open(key K) (V, bool) {
	v, ok := s.m[key]
	return v, ok
}

// End takes out what has begun under the key; false if nothing has.
func (s *Pending[K, V]) End(key K) (V, bool) {
	v, ok := s.m[key]
	if ok {
		delete(s.m, key)
	}
	return v, ok
}

// Each calls f with all that has no end yet, in no order.
func (s *Pending[K, V]) Each(f func(K, V)) {
	for k, v := range s.m {
		f(k, v)
	}
}

// Clear gives up all that has no end yet.
func (s *Pending[K, V]) Clear() { clear(s.m) }

// Len is how many have no end yet.
func (s *Pending[K, V]) Len() int { return len(s.m) }
