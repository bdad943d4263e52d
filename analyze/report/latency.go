package report

import (
	"fmt"
	"math/bits"
	"strings"

	"netrec/analyze"
	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

// heatColumns is how fine heat maps are over time.
const heatColumns = 96

// Heat is a histogram, and the same over time. Rows are powers of two, as the command
// of the chart prints them: row n counts values from 2^(n-1) to less than 2^n, row 0
// counts zeros.
type Heat struct {
	ID      string  `json:"id"`
	Unit    string  `json:"unit"` // of the values: us or ns
	Seconds float64 `json:"seconds"`
	Low     int     `json:"low"`
	Rows    []int64 `json:"rows"`  // counts from row Low on
	Cells   []int64 `json:"cells"` // column, row, count of all that are not empty

	Title, About string  `json:"-"`
	Command, Cmd string  `json:"-"` // arguments, and all of it
	Said         []Said  `json:"-"`
	Why          string  `json:"-"` // why there is nothing to show; "" if there is
	Count        int64   `json:"-"`
	Half, Most   float64 `json:"-"` // ns

	clock clock
	table string
	scale int64 // ns per unit
	all   agg.Quantiles
	cells [heatColumns][65]int64
	call  engine.Call
}

// latencies are the charts of how long things take: an analysis that measures it, its
// options and the name of its histogram.
var latencies = []struct{ id, title, about, args, table, unit string }{
	{"connect", "Connect", "from connect(2) until the program knows the result", "soconnlat --by none", "us", "us"},
	{"firstbyte", "First byte", "from connect(2) until the first byte is read", "so1stbyte --by none", "us", "us"},
	{"turn", "Turns", "from the first byte of a question to the last byte of its answer", "waits", "us", "us"},
	{"rtt", "Round trip", "smoothed round trip of TCP connections, read at every segment that arrives", "tcprtt", "us", "us"},
	{"dns", "Name lookups", "calls of the C library that look up names", "gethostlatency", "lookups", "us"},
	{"qdisc", "Queueing disciplines", "from a packet's entry into a device's queue until it leaves", "qdisclat --by none", "us", "us"},
	{"skb", "Life of an sk_buff", "from the allocation of a packet buffer to its end", "skblife", "skb_residency_nsecs", "ns"},
}

// newHeats makes the charts, and in them the calls that fill them.
func newHeats() ([]*Heat, error) {
	var all []*Heat
	for _, l := range latencies {
		h := &Heat{ID: l.id, Title: l.title, About: l.about, Command: l.args, table: l.table, Unit: l.unit, scale: 1}
		if l.unit == "us" {
			h.scale = 1000
		}
		req, err := engine.Parse(analyze.All(), nil, append([]string{"FILE"}, strings.Fields(l.args)...))
		if err != nil {
			return nil, fmt.Errorf("chart %s: %w", l.id, err)
		}
		h.call = req.Calls[0]
		h.call.Tap = h.add
		all = append(all, h)
	}
	return all, nil
}

func (h *Heat) add(table string, ts, v int64) {
	if table == h.table && h.clock.columns > 0 {
		h.cells[h.clock.at(ts)][row(v)]++
		h.all.Add(v)
	}
}

// row is the row of a value.
func row(v int64) int { return bits.Len64(uint64(max(v, 0))) }

// finish makes what the page shows of the values.
func (h *Heat) finish(o engine.Outcome, said []Said) {
	h.Said, h.Count, h.Seconds = said, h.all.Count, h.clock.seconds()
	switch {
	case o.Status != engine.Answered:
		h.Why = o.Why
		return
	case h.Count == 0:
		h.Why = "All needed events were recorded; none of this kind happened."
		return
	}
	h.Half, h.Most = float64(h.all.At(0.5)*h.scale), float64(h.all.Max*h.scale)
	h.Low = row(h.all.Min)
	h.Rows = make([]int64, row(h.all.Max)-h.Low+1)
	for c := range h.cells {
		for r, n := range h.cells[c] {
			if n > 0 {
				h.Rows[r-h.Low] += n
				h.Cells = append(h.Cells, int64(c), int64(r), n)
			}
		}
	}
}
