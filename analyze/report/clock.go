package report

import "netrec/analyze/engine"

// clock divides the time of a recording, or of the part of it that was selected, into
// columns of equal width.
type clock struct {
	from, width int64 // ns
	columns     int
}

// bounds are from when to when.
func bounds(in *engine.Input, sel *engine.Selection) (from, length int64) {
	from, to := max(in.Start(), sel.From), in.End()
	if sel.To != 0 {
		to = min(to, sel.To)
	}
	return from, max(to-from, 0)
}

func newClock(in *engine.Input, sel *engine.Selection, columns int) clock {
	from, length := bounds(in, sel)
	return clock{from, length/int64(columns) + 1, columns}
}

// newLineClock has columns of 1, 2 or 5 times a power of ten, at most so many: rare things
// are drawn as they were counted, and people can name the time that one column stands for.
func newLineClock(in *engine.Input, sel *engine.Selection, most int) clock {
	from, length := bounds(in, sel)
	for unit := int64(1e6); ; unit *= 10 {
		for _, n := range [...]int64{1, 2, 5} {
			width := n * unit
			if columns := (length + width - 1) / width; columns <= int64(most) {
				return clock{from, width, int(max(columns, 1))}
			}
		}
	}
}

// at is the column of a time. Times outside of the recording, which a file may claim,
// count at its edge.
func (c clock) at(ts int64) int {
	return int(min(max((ts-c.from)/c.width, 0), int64(c.columns-1)))
}

// seconds is how long a column is.
func (c clock) seconds() float64 { return float64(c.width) / 1e9 }
