package calls

import (
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// Errors of a connect that is asked about again.
const (
	EISCONN  = 106
	EALREADY = 114
)

// EINPROGRESS says that the connection of a non-blocking socket goes on.
const EINPROGRESS = 115

// Errors of a call that a signal interrupts, at its end and before the kernel has seen to the signal.
const eintr, eRestart = 4, 512

// NoteLostEnds says how many connects are not counted because the row that ends them may be
// among those that were lost.
func NoteLostEnds(a *render.Answer, n int64, which string) {
	if n > 0 {
		a.Note(engine.Plural(n, "connect", "connects") + " whose " + which + " may be in lost rows are not counted")
	}
}
