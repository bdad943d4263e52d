package analyze

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// Frequent events end up in one line while less than quietNS passes between any two
// rows of the socket and the line covers less than runNS.
const (
	quietNS = 100e6
	runNS   = 1e9
)

// timeline lists the rows of sockets in words. Frequent events between two others
// are summed up in one line for each kind.
type timeline struct {
	*describer
	in   *engine.Input
	t    *render.Table
	runs []timelineRun // open, in the order of their beginning
	last int64
	gen  int
}

// timelineRun is a line that still grows.
type timelineRun struct {
	event, name, unit string
	from, to          int64
	pid               int64
	comm              string
	n, sum            int64
	low, high         int64
}

// newTimeline makes a time line of at most so many lines; the caller shows it.
func newTimeline(in *engine.Input, lines int) *timeline {
	t := in.Table(render.Spec{Name: "timeline", Columns: []render.Column{render.Col("generation", render.Int).Text("GEN", 3),
		render.Col("time_s", render.Fixed).Digits(6).Text("TIME(s)", 12).In("s"), render.Col("pid", render.Int).Text("PID", -7),
		render.Col("comm", render.String).Text("COMM", -15), render.Col("event", render.String).Text("EVENT", -14),
		render.Col("what", render.String).Text("WHAT", 0), render.Col("ts_ns", render.Int).In("ns"), render.Col("events", render.Int)}})
	return &timeline{describer: newDescriber(in), in: in, t: t.Hold(lines)}
}

// add takes a row that belongs to a socket.
func (f *timeline) add(r *engine.Row) {
	name := f.series(r)
	if name == "" || r.Sock.Gen != f.gen || r.TS-f.last > quietNS || len(f.runs) > 0 && r.TS-f.runs[0].from > runNS {
		f.flush()
	}
	f.gen, f.last = r.Sock.Gen, r.TS
	pid, comm := f.in.Owner(r)
	if name == "" {
		f.put(&timelineRun{event: r.Event.Name, from: r.TS, pid: pid, comm: comm, n: 1}, f.words(r))
		return
	}
	amount, unit := f.amount(r)
	for i := range f.runs {
		if c := &f.runs[i]; c.event == r.Event.Name && c.name == name && c.pid == pid {
			c.to, c.n, c.sum = r.TS, c.n+1, c.sum+amount
			c.low, c.high = min(c.low, amount), max(c.high, amount)
			return
		}
	}
	f.runs = append(f.runs, timelineRun{r.Event.Name, name, unit, r.TS, r.TS, pid, comm, 1, amount, amount, amount})
}

// flush ends the lines that still grow.
func (f *timeline) flush() {
	for i := range f.runs {
		c := &f.runs[i]
		what := c.name
		if c.n > 1 {
			what = fmt.Sprintf("%s ×%s in %s", c.name, engine.Group(c.n), micros(c.to-c.from))
		}
		switch {
		case c.unit == "cwnd" && c.low != c.high:
			what += fmt.Sprintf(", cwnd %d to %d", c.low, c.high)
		case c.unit == "cwnd":
			what += fmt.Sprintf(", cwnd %d", c.low)
		case c.unit == "bytes" && c.sum > 0:
			what += fmt.Sprintf(", %s bytes", engine.Group(c.sum))
		}
		f.put(c, what)
	}
	f.runs = f.runs[:0]
}

func (f *timeline) put(c *timelineRun, what string) {
	f.t.Int(int64(f.gen)).Int((c.from-f.in.Start())/1000).IntOr(c.pid, c.pid != 0).StrOr(c.comm).Str(c.event).Str(what).Int(c.from).Int(c.n).End()
}
