package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/story"
)

// timeline lists the rows of sockets in words.
type timeline struct {
	*story.Teller
	telling story.Telling
	in      *engine.Input
	t       *render.Table
}

// newTimeline makes a time line of at most so many lines; the caller shows it.
func newTimeline(in *engine.Input, lines int) *timeline {
	t := in.Table(render.Spec{Name: "timeline", Columns: []render.Column{render.Col("generation", render.Int).Text("GEN", 3),
		render.Col("time_s", render.Fixed).Digits(6).Text("TIME(s)", 12).In("s"), render.Col("pid", render.Int).Text("PID", -7),
		render.Col("comm", render.String).Text("COMM", -15), render.Col("event", render.String).Text("EVENT", -14),
		render.Col("what", render.String).Text("WHAT", 0), render.Col("ts_ns", render.Int).In("ns"), render.Col("events", render.Int)}})
	return &timeline{Teller: story.NewTeller(in), in: in, t: t.Hold(lines)}
}

// add takes a row that belongs to a socket.
func (f *timeline) add(r *engine.Row) { f.Add(&f.telling, r, f.put) }

// flush ends the lines that still grow.
func (f *timeline) flush() { f.telling.Flush(f.put) }

func (f *timeline) put(l story.Line) {
	f.t.Int(int64(l.Gen)).Int((l.TS-f.in.Start())/1000).IntOr(l.Pid, l.Pid != 0).StrOr(l.Comm).Str(l.Event).Str(l.What).Int(l.TS).Int(l.Events).End()
}
