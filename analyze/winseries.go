package analyze

import (
	"netrec/analyze/agg"
)

// Bounds of what is kept to draw sessions.
const (
	winBuckets = 2048 // of a session, more than a picture has columns
	winKept    = 256  // sessions; the one with fewest rows gives way
	winMarks   = 4096
)

// winBucket is the values of a short time, so that the cut of a window is seen however
// many rows there are.
type winBucket struct {
	at               int64 // in widths since the series began
	first, low       int64 // congestion window
	high, last       int64
	threshold, limit int64 // slow start threshold (last), send buffer (highest)
}

// winSeries is the course of one session, in buckets that widen as it goes on.
type winSeries struct {
	sock    agg.Socket
	rows    int64
	late    bool // its beginning gave way to others
	from    int64
	width   int64 // ns
	buckets []winBucket
	marks   []int64 // retransmissions, at most winMarks
	resent  int64
}

func (s *winSeries) add(ts, cwnd, threshold, limit int64) {
	if s.width == 0 {
		s.from, s.width = ts, 1e5
	}
	at := (ts - s.from) / s.width
	if n := len(s.buckets); n == 0 || s.buckets[n-1].at != at {
		if n >= winBuckets {
			s.widen()
			s.add(ts, cwnd, threshold, limit)
			return
		}
		s.buckets = append(s.buckets, winBucket{at: at, first: cwnd, low: cwnd, high: cwnd})
	}
	b := &s.buckets[len(s.buckets)-1]
	b.low, b.high, b.last = min(b.low, cwnd), max(b.high, cwnd), cwnd
	b.threshold, b.limit = threshold, max(b.limit, limit)
}

// widen joins every two neighbours, until there is room.
func (s *winSeries) widen() {
	for s.width *= 2; ; s.width *= 2 {
		n := 0
		for _, b := range s.buckets {
			if b.at /= 2; n > 0 && s.buckets[n-1].at == b.at {
				a := &s.buckets[n-1]
				a.low, a.high, a.last = min(a.low, b.low), max(a.high, b.high), b.last
				a.threshold, a.limit = b.threshold, max(a.limit, b.limit)
				continue
			}
			s.buckets[n] = b
			n++
		}
		s.buckets = s.buckets[:n]
		if n < winBuckets {
			return
		}
	}
}

// winPlots keeps the course of the sessions with most rows.
type winPlots struct {
	of   agg.PerSocket[*winSeries]
	kept []*winSeries
}

// series is the course of a session, made when it is first asked for.
func (p *winPlots) series(s *agg.Socket) *winSeries {
	at := p.of.Of(s)
	if *at == nil {
		*at = &winSeries{}
	}
	w := *at
	w.sock = *s
	if w.width == 0 {
		p.keep(w)
	}
	return w
}

// keep makes room for a session that has no values yet.
func (p *winPlots) keep(w *winSeries) {
	w.late = w.rows > 0
	if len(p.kept) < winKept {
		p.kept = append(p.kept, w)
		return
	}
	least := 0
	for i, k := range p.kept {
		if k.rows < p.kept[least].rows {
			least = i
		}
	}
	out := p.kept[least]
	out.buckets, out.marks, out.width = nil, nil, 0
	p.kept[least] = w
}

// busiest is the session with most rows, nil if there is none.
func (p *winPlots) busiest() *winSeries {
	var best *winSeries
	for _, k := range p.kept {
		if k.width != 0 && (best == nil || k.rows > best.rows || k.rows == best.rows && k.sock.Serial < best.sock.Serial) {
			best = k
		}
	}
	return best
}

// mark notes a retransmission.
func (s *winSeries) mark(ts int64) {
	if s.resent++; len(s.marks) < winMarks {
		s.marks = append(s.marks, ts)
	}
}
