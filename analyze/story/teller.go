package story

import (
	"fmt"

	"netrec/analyze/engine"
)

// Events are those that a story is told from.
var Events = []string{"tcp_state", "sys_connect", "sys_accept", "sys_close", "sock_io", "tcp_retrans", "skb_drop",
	"tcp_rcv_est", "tcp_write_xmit", "skb_alloc", "skb_consume"}

// Frequent events end up in one line while less than quietNS passes between any two
// rows of the socket and the line covers less than runNS.
const (
	quietNS = 100e6
	runNS   = 1e9
)

// Line is one thing that happened, or several of a kind.
type Line struct {
	Gen    int   // generation of the socket
	TS     int64 // ts_ns of the first
	Pid    int64 // 0 if unknown
	Comm   string
	Event  string
	What   string
	Events int64 // how many rows it stands for
}

// Teller makes lines of rows.
type Teller struct {
	*describer
	in *engine.Input
}

// NewTeller reads the columns that words need.
func NewTeller(in *engine.Input) *Teller { return &Teller{newDescriber(in), in} }

// Telling is a story under way. Its zero value has not begun.
type Telling struct {
	runs []run // open, in the order of their beginning
	last int64
	gen  int
}

// run is a line that still grows.
type run struct {
	event, name, unit string
	from, to          int64
	pid               int64
	comm              string
	n, sum            int64
	low, high         int64
}

// Add takes a row that belongs to a socket and hands on the lines that it ends. Strings
// of a line are those of the row: who keeps them copies them.
func (t *Teller) Add(s *Telling, r *engine.Row, out func(Line)) {
	name := t.series(r)
	if name == "" || r.Sock.Gen != s.gen || r.TS-s.last > quietNS || len(s.runs) > 0 && r.TS-s.runs[0].from > runNS {
		s.Flush(out)
	}
	s.gen, s.last = r.Sock.Gen, r.TS
	pid, comm := t.in.Owner(r)
	if name == "" {
		out(Line{Gen: s.gen, TS: r.TS, Pid: pid, Comm: comm, Event: r.Event.Name, What: t.words(r), Events: 1})
		return
	}
	amount, unit := t.amount(r)
	for i := range s.runs {
		if c := &s.runs[i]; c.event == r.Event.Name && c.name == name && c.pid == pid {
			c.to, c.n, c.sum = r.TS, c.n+1, c.sum+amount
			c.low, c.high = min(c.low, amount), max(c.high, amount)
			return
		}
	}
	s.runs = append(s.runs, run{r.Event.Name, name, unit, r.TS, r.TS, pid, comm, 1, amount, amount, amount})
}

// Flush ends the lines that still grow.
func (s *Telling) Flush(out func(Line)) {
	for i := range s.runs {
		c := &s.runs[i]
		what := c.name
		if c.n > 1 {
			what = fmt.Sprintf("%s ×%s in %s", c.name, engine.Thousands(c.n), Micros(c.to-c.from))
		}
		switch {
		case c.unit == "cwnd" && c.low != c.high:
			what += fmt.Sprintf(", cwnd %d to %d", c.low, c.high)
		case c.unit == "cwnd":
			what += fmt.Sprintf(", cwnd %d", c.low)
		case c.unit == "bytes" && c.sum > 0:
			what += fmt.Sprintf(", %s bytes", engine.Thousands(c.sum))
		}
		out(Line{Gen: s.gen, TS: c.from, Pid: c.pid, Comm: c.comm, Event: c.event, What: what, Events: c.n})
	}
	s.runs = s.runs[:0]
}
