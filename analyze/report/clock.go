package report

import "netrec/analyze/engine"

// clock divides the time of a recording, or of the part of it that was selected, into
// columns of equal width.
type clock struct {
	from, width int64 // ns
	columns     int
}

func newClock(in *engine.Input, sel *engine.Selection, columns int) clock {
	from, to := max(in.Start(), sel.From), in.End()
	if sel.To != 0 {
		to = min(to, sel.To)
	}
	return clock{from, max(to-from, 0)/int64(columns) + 1, columns}
}

// at is the column of a time. Times outside of the recording, which a file may claim,
// count at its edge.
func (c clock) at(ts int64) int {
	return int(min(max((ts-c.from)/c.width, 0), int64(c.columns-1)))
}

// seconds is how long a column is.
func (c clock) seconds() float64 { return float64(c.width) / 1e9 }
