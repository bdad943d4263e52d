package record

import "time"

// What the recorder costs before it has been measured: about what it does on a host of 2026.
const (
	assumedIdle = 4e6 // ns in a second
	assumedRow  = 400 // ns
	leastRow    = 50
	mostRow     = 4000
)

// Weights of the measurements: each counts for less than the one after it, and what was
// assumed for as much as a few of them.
const (
	forget  = 0.8
	assumed = 0.5
)

// mostMeasured bounds how long a measurement takes. Rows are encoded in commits, so that less than two
// of them say little.
const mostMeasured = 6 * time.Second

// mostSurge bounds by how much the newest measurement may be above the line.
const mostSurge = 3

// rowCost learns what the recorder takes for a row, and without any: a line through the
// measurements of the last seconds. Where the newest is above the line, by so much is what comes:
// it takes longer among many busy processes.
type rowCost struct {
	n, x, y, xx, xy float64 // sums: weights, rows a second, ns a second and their products
	pending         load
	idle, row       float64
	surge           float64 // at least 1
	measured        time.Duration
}

// newRowCost takes the time between two commits.
func newRowCost(commit time.Duration) rowCost {
	c := rowCost{surge: 1, measured: min(2*commit, mostMeasured)}
	for _, rows := range []float64{0, 1e4, 1e5} {
		c.add(rows, assumedIdle+rows*assumedRow, assumed)
	}
	return c
}

// at is what the recorder takes for so many rows a second, ns a second.
func (c *rowCost) at(rows float64) float64 { return c.surge * (c.idle + c.row*rows) }

// note takes a stretch of time.
func (c *rowCost) note(l load) {
	p := &c.pending
	p.wall += l.wall
	p.recorder += l.recorder
	p.always.rows += l.always.rows + l.hot[conns].rows + l.hot[packets].rows
	if s := p.wall.Seconds(); p.wall >= c.measured {
		c.n, c.x, c.y, c.xx, c.xy = c.n*forget, c.x*forget, c.y*forget, c.xx*forget, c.xy*forget
		c.add(p.always.rows/s, p.recorder/s, 1)
		c.surge = 1
		c.surge = min(max(p.recorder/s/c.at(p.always.rows/s), 1), mostSurge)
		*p = load{}
	}
}

// add fits the line anew. Where the rows were nearly the same all the time, they cannot tell its
// two parts from each other, and the assumed idle time does.
func (c *rowCost) add(x, y, weight float64) {
	c.n, c.x, c.y, c.xx, c.xy = c.n+weight, c.x+weight*x, c.y+weight*y, c.xx+weight*x*x, c.xy+weight*x*y
	if d := c.n*c.xx - c.x*c.x; d > 0 {
		c.row = min(max((c.n*c.xy-c.x*c.y)/d, leastRow), mostRow)
	}
	c.idle = max((c.y-c.row*c.x)/c.n, 0)
}
