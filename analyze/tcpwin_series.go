package analyze

import (
	"cmp"

	"netrec/analyze/agg"
)

// Bounds of what is kept to draw sessions.
const (
	winBuckets = 2048 // of a session, more than a picture has columns
	winKept    = 256  // sessions; the one that sent least gives way
)

// winSeries is the course of one session.
type winSeries struct {
	agg.Course
	sock agg.Socket
	rows int64
	late bool // its beginning gave way to others

	next uint32 // sequence number that it sends next
	sent int64  // bytes, while its rows came
}

// upTo notes the next sequence number to send, which goes round at 2^32.
func (w *winSeries) upTo(next uint32) {
	if ahead := int32(next - w.next); w.rows > 1 && ahead > 0 {
		w.sent += int64(ahead)
	}
	w.next = next
}

// less reports a session that sent less than another.
func (w *winSeries) less(o *winSeries) bool {
	return cmp.Or(cmp.Compare(w.sent, o.sent), cmp.Compare(w.rows, o.rows), cmp.Compare(o.sock.Serial, w.sock.Serial)) < 0
}

// winPlots keeps the course of the sessions that sent most.
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
		if k.less(p.kept[least]) {
			least = i
		}
	}
	out := p.kept[least]
	out.Buckets, out.Marks, out.Width = nil, nil, 0
	p.kept[least] = w
}

// sender is the session that sent most, nil if there is none. Of one with both ends on
// this host the receiver has more rows, and a window that nothing uses.
func (p *winPlots) sender() *winSeries {
	var best *winSeries
	for _, k := range p.kept {
		if k.Width != 0 && (best == nil || best.less(k)) {
			best = k
		}
	}
	return best
}
