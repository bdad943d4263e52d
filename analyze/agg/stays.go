package agg

import "iter"

// Stays are the times at which packets came to places that may lie inside each other,
// such as a queue within a queue. A packet that is gone takes all its stays along, so
// that the next one at its address starts anew.
type Stays struct {
	first   map[uint64]int32 // by packet: its newest stay, as position in all
	all     []stay
	free    int32 // first of the unused ones, -1 for none
	Stale   int64 // stays begun again at the same place before their end
	Refused int64 // stays for which there was no room
}

type stay struct {
	place uint64
	ts    int64
	next  int32
}

// Begin notes that a packet came to a place.
func (s *Stays) Begin(packet, place uint64, ts int64) {
	if at := s.find(packet, place); at >= 0 {
		s.all[at].ts = ts
		s.Stale++
		return
	}
	if s.first == nil {
		s.first, s.free = map[uint64]int32{}, -1
	}
	at := s.free
	switch {
	case at >= 0:
		s.free = s.all[at].next
	case len(s.all) >= maxSpans:
		s.Refused++
		return
	default:
		at = int32(len(s.all))
		s.all = append(s.all, stay{})
	}
	s.all[at] = stay{place, ts, s.head(packet)}
	s.first[packet] = at
}

func (s *Stays) head(packet uint64) int32 {
	if at, ok := s.first[packet]; ok {
		return at
	}
	return -1
}

func (s *Stays) find(packet, place uint64) int32 {
	for at := s.head(packet); at >= 0; at = s.all[at].next {
		if s.all[at].place == place {
			return at
		}
	}
	return -1
}

// End is when the packet came to the place, which it leaves; false if that was not seen.
func (s *Stays) End(packet, place uint64) (int64, bool) {
	before := int32(-1)
	for at := s.head(packet); at >= 0; before, at = at, s.all[at].next {
		if s.all[at].place != place {
			continue
		}
		next := s.all[at].next
		switch {
		case before >= 0:
			s.all[before].next = next
		case next >= 0:
			s.first[packet] = next
		default:
			delete(s.first, packet)
		}
		s.all[at].next, s.free = s.free, at
		return s.all[at].ts, true
	}
	return 0, false
}

// Last is the place that a packet came to last; false if it is at none.
func (s *Stays) Last(packet uint64) (place uint64, ok bool) {
	if at := s.head(packet); at >= 0 {
		return s.all[at].place, true
	}
	return 0, false
}

// Places are where a packet is, the newest first.
func (s *Stays) Places(packet uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for at := s.head(packet); at >= 0 && yield(s.all[at].place); at = s.all[at].next {
		}
	}
}

// Gone ends all stays of a packet that is no more.
func (s *Stays) Gone(packet uint64) {
	for at := s.head(packet); at >= 0; {
		next := s.all[at].next
		s.all[at].next, s.free = s.free, at
		at = next
	}
	delete(s.first, packet)
}

// GoneAll ends all stays, because any of them may have ended unseen.
func (s *Stays) GoneAll() {
	clear(s.first)
	s.all, s.free = s.all[:0], -1
}

// Inherit lets what was cut out of a packet be where the packet is, as long as it is.
func (s *Stays) Inherit(from, to uint64) {
	if from == to {
		return
	}
	for at := s.head(from); at >= 0; at = s.all[at].next {
		s.Begin(to, s.all[at].place, s.all[at].ts)
	}
}

// Len is how many packets are somewhere.
func (s *Stays) Len() int { return len(s.first) }
