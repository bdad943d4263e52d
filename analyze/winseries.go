package analyze

import (
	"netrec/analyze/agg"
)

// Bounds of what is kept to draw sessions.
const (
	winBuckets = 2048 // of a session, more than a picture has columns
	winKept    = 256  // sessions; the one with fewest rows gives way
)

// winSeries is the course of one session.
type winSeries struct {
	agg.Course
	sock agg.Socket
	rows int64
	late bool // its beginning gave way to others
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
	if w.Width == 0 {
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
	out.Buckets, out.Marks, out.Width = nil, nil, 0
	p.kept[least] = w
}

// busiest is the session with most rows, nil if there is none.
func (p *winPlots) busiest() *winSeries {
	var best *winSeries
	for _, k := range p.kept {
		if k.Width != 0 && (best == nil || k.rows > best.rows || k.rows == best.rows && k.sock.Serial < best.sock.Serial) {
			best = k
		}
	}
	return best
}
