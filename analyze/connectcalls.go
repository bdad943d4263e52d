package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/calls"
	"netrec/analyze/shape"
)

// connectLine is one call.
type connectLine struct {
	who                 shape.Process
	family, proto, addr string
	port, ts, dur, ret  int64
	done                int64 // ns from the start of the call, -1 if unknown
	final               string
	sock                agg.Socket
}

// began is when the call did; the SYN stands for it where that was not seen.
func (l *connectLine) began(a *calls.Attempt) int64 {
	if l.dur == 0 && a.Began != 0 {
		return a.Began
	}
	return l.ts - l.dur
}
