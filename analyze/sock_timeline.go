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
	t       *render.List[story.Line]
}

// newTimeline makes a time line of at most so many lines; the caller shows it.
func newTimeline(in *engine.Input, lines int) *timeline {
	t := render.ListOf(in.Table, render.Spec{Name: "timeline"},
		render.Num("generation", func(l *story.Line) int64 { return int64(l.Gen) }).Text("GEN", 3),
		render.Num("time_s", func(l *story.Line) int64 { return (l.TS - in.Start()) / 1000 }).As(render.Fixed).Digits(6).Text("TIME(s)", 12).In("s"),
		render.NonZero("pid", func(l *story.Line) int64 { return l.Pid }).Text("PID", -7),
		render.TextOr("comm", func(l *story.Line) string { return l.Comm }).Text("COMM", -15),
		render.Text("event", func(l *story.Line) string { return l.Event }).Text("EVENT", -14),
		render.Text("what", func(l *story.Line) string { return l.What }).Text("WHAT", 0),
		render.Num("ts_ns", func(l *story.Line) int64 { return l.TS }).In("ns"),
		render.Num("events", func(l *story.Line) int64 { return l.Events }))
	t.Hold(lines)
	return &timeline{Teller: story.NewTeller(in), t: t}
}

// add takes a row that belongs to a socket.
func (f *timeline) add(r *engine.Row) { f.Add(&f.telling, r, f.t.Line) }

// flush ends the lines that still grow.
func (f *timeline) flush() { f.telling.Flush(f.t.Line) }
