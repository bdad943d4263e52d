package analyze

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// timeline lists the rows of sockets in words. Rows of frequent events that follow
// each other become one line.
type timeline struct {
	*describer
	in  *engine.Input
	t   *render.Table
	run timelineRun
}

// timelineRun is the line being made.
type timelineRun struct {
	name        string // "" for a line that is complete
	event, unit string
	gen         int
	from, to    int64
	pid         int64
	comm        string
	n, sum      int64
	low, high   int64
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
	pid, comm := f.in.Owner(r)
	name := f.series(r)
	amount, unit := f.amount(r)
	c := &f.run
	if name == "" || c.name != name || c.event != r.Event.Name || c.gen != r.Sock.Gen || c.pid != pid {
		f.flush()
		*c = timelineRun{name: name, event: r.Event.Name, unit: unit, gen: r.Sock.Gen, from: r.TS, pid: pid, comm: comm, low: amount, high: amount}
	}
	c.to, c.n, c.sum = r.TS, c.n+1, c.sum+amount
	c.low, c.high = min(c.low, amount), max(c.high, amount)
	if name == "" {
		f.put(f.words(r))
	}
}

// flush ends the line being made.
func (f *timeline) flush() {
	c := &f.run
	if c.n == 0 {
		return
	}
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
	f.put(what)
}

func (f *timeline) put(what string) {
	c := &f.run
	f.t.Int(int64(c.gen)).Int((c.from-f.in.Start())/1000).IntOr(c.pid, c.pid != 0).StrOr(c.comm).Str(c.event).Str(what).Int(c.from).Int(c.n).End()
	c.n = 0
}
