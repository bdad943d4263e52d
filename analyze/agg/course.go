package agg

// courseMarks is how many retransmissions a Course keeps the time of.
const courseMarks = 4096

// CourseBucket is the values of a short time. Its extremes are kept, so that the cut of a
// window is seen however many rows there are.
type CourseBucket struct {
	At               int64 // in widths since the course began
	First, Low       int64 // congestion window
	High, Last       int64
	Threshold, Limit int64 // slow start threshold (last), send buffer (highest)
}

// Course is how the windows of one session went, in buckets that widen as it goes on.
type Course struct {
	From    int64 // ts_ns of the first row
	Width   int64 // ns; 0 before the first row
	Buckets []CourseBucket
	Marks   []int64 // ts_ns of retransmitted buffers, the first 4096 of them
	Buffers int64   // all of them
	Resent  int64   // their segments
}

// Add takes the values of a row. room is how many buckets there may be.
func (c *Course) Add(room int, ts, cwnd, threshold, limit int64) {
	if c.Width == 0 {
		c.From, c.Width = ts, 1e5
	}
	at := (ts - c.From) / c.Width
	if n := len(c.Buckets); n == 0 || c.Buckets[n-1].At != at {
		if n >= room {
			c.widen(room)
			c.Add(room, ts, cwnd, threshold, limit)
			return
		}
		c.Buckets = append(c.Buckets, CourseBucket{At: at, First: cwnd, Low: cwnd, High: cwnd})
	}
	b := &c.Buckets[len(c.Buckets)-1]
	b.Low, b.High, b.Last = min(b.Low, cwnd), max(b.High, cwnd), cwnd
	b.Threshold, b.Limit = threshold, max(b.Limit, limit)
}

// widen joins every two neighbours, until there is room.
func (c *Course) widen(room int) {
	for c.Width *= 2; ; c.Width *= 2 {
		n := 0
		for _, b := range c.Buckets {
			if b.At /= 2; n > 0 && c.Buckets[n-1].At == b.At {
				a := &c.Buckets[n-1]
				a.Low, a.High, a.Last = min(a.Low, b.Low), max(a.High, b.High), b.Last
				a.Threshold, a.Limit = b.Threshold, max(a.Limit, b.Limit)
				continue
			}
			c.Buckets[n] = b
			n++
		}
		c.Buckets = c.Buckets[:n]
		if n < room {
			return
		}
	}
}

// Mark notes a retransmitted buffer of so many segments.
func (c *Course) Mark(ts, segments int64) {
	c.Resent += segments
	if c.Buffers++; len(c.Marks) < courseMarks {
		c.Marks = append(c.Marks, ts)
	}
}
