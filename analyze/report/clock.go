package report

// clock divides the time of a recording, or of the part of it that was selected, into
// columns of equal width.
type clock struct {
	from, width int64 // ns
	columns     int
}

// zero is when the time of the page begins.
func (f *fold) zero() int64 {
	if f.shared.to != 0 {
		return f.shared.from
	}
	return f.in.Start()
}

// bounds are from when to when.
func (f *fold) bounds() (from, length int64) {
	from, to := max(f.zero(), f.sel.From), max(f.in.End(), f.shared.to)
	if f.sel.To != 0 {
		to = min(to, f.sel.To)
	}
	return from, max(to-from, 0)
}

func (f *fold) newClock(columns int) clock {
	from, length := f.bounds()
	return clock{from, length/int64(columns) + 1, columns}
}

// newLineClock has columns of 1, 2 or 5 times a power of ten, at most so many: rare things
// are drawn as they were counted, and people can name the time that one column stands for.
func (f *fold) newLineClock(most int) clock {
	from, length := f.bounds()
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
