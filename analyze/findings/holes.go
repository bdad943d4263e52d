package findings

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

// hole is data of a connection that the peer sent and that did not come: segments behind it did.
type hole struct {
	open         int64 // since when data is missing, 0 if none is
	before       int64 // bytes that came in order by then
	losses       int64 // of rows, when it was last looked at
	since, until int64 // of the hole that was open for longest
	biggest      int64 // payload of the biggest segment that came, bytes
}

// length is for how long the worst hole was open, ns.
func (h *hole) length() int64 { return h.until - h.since }

// within is for how long it was open in a span of time.
func (h *hole) within(from, to int64) int64 {
	since, until := h.since, h.until
	if h.open != 0 {
		since, until = h.open, to
	}
	return max(0, min(until, to)-max(since, from))
}

func (h *hole) filled(now int64) {
	if h.open != 0 && now-h.open > h.length() {
		h.since, h.until = h.open, now
	}
	h.open = 0
}

// holes follows what is missing on all connections.
type holes struct {
	socks  agg.PerSocket[hole]
	losses int64

	PayloadBytes, SeqGapBytes, InBytes scan.Int
	OldState                           scan.Str
}

// missing follows holes once, for all rules that judge by them.
func (f *flows) missing() *holes {
	if f.holes != nil {
		return f.holes
	}
	f.holes = &holes{}
	f.in.Bind(f.holes)
	f.in.Use("tcp_rcv_est", "", f.holes.segment)
	f.in.Use("tcp_state", "", func(r *engine.Row) {
		if r.Str(f.holes.OldState) == "ESTABLISHED" { // an end gave up
			f.holes.of(r.Sock).filled(r.TS)
		}
	})
	f.in.OnLoss([]string{"tcp_rcv_est"}, func() { f.holes.losses++ }) // what filled a hole may be among them
	f.in.OnEnd(func(s *agg.Socket) {
		if s.Open {
			f.holes.of(s).filled(f.in.End())
		}
	})
	return f.holes
}

// of is the hole of a socket, closed if rows were lost since.
func (f *holes) of(s *agg.Socket) *hole {
	h := f.socks.Of(s)
	if h.losses != f.losses {
		h.open, h.losses = 0, f.losses
	}
	return h
}

func (f *holes) segment(r *engine.Row) {
	size := r.Int(f.PayloadBytes)
	if size <= 0 || !r.Has(f.SeqGapBytes) {
		return
	}
	h, gap := f.of(r.Sock), r.Int(f.SeqGapBytes)
	h.biggest = max(h.biggest, size)
	switch {
	case gap <= 0 && gap+size > 0:
		h.filled(r.TS)
	case gap > 0 && (h.open == 0 || r.Int(f.InBytes) != h.before): // another one, if data came in between
		h.filled(r.TS)
		h.open, h.before = r.TS, r.Int(f.InBytes)
	}
}
