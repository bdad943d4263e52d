package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/findings"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/shape"
	"netrec/schema"
)

var _ = register(engine.Analysis{
	Name:     "overview",
	Group:    groupStart,
	Question: "what is in this recording?",
	Main:     []string{"events"},
	Help: `What looks wrong, who talked most, where the time went, what limits the recording and what
to type next, on one screen. This is what analyze shows if you name no analysis. It shows
the worst finding of each rule; netrec analyze findings --help lists the rules. A socket
counts for the process that owns it; waits explains where the time went.

--all also shows host, time and cost of the recording; its events with losses and hooks; the
busiest processes and sockets; and which analyses it can answer. Formats for programs have
all of it.

The cost is the share of the host's CPU time that recorder and probes took, and how fast
the file grew. Time in probes is an estimate: rows × the time per row of each event,
measured on the machine that is named.`,
	Example: "overview --all --top 3",
	Options: []engine.Option{engine.Top("10", "how many processes and sockets"),
		{Name: "brief", Kind: engine.Flag, Doc: "with --all: leave out the list of analyses"}, findings.ThresholdOption()},
	New: newOverview,
})

type overview struct {
	in    *engine.Input
	wrong *findings.Set
	top   int
	procs *engine.Busy[shape.Process]
	talk  *talkers
	time  *services
	socks *line.Busiest
	spent *engine.Spent
}

func newOverview(in *engine.Input) engine.Fold {
	f := &overview{in: in, top: max(1, in.Number("top")), spent: in.Spent()}
	f.wrong = findings.New(in, in.Text("threshold"), findings.MostOfRule)
	var names agg.Intern
	f.procs = engine.NewBusy(in, func(pid int64, comm string) shape.Process { return shape.Process{Comm: names.Get(comm), Pid: pid} })
	for i := range schema.Events {
		if e := &schema.Events[i]; !e.Own() {
			in.Use(e.Name, "", f.row)
		}
	}
	in.Answer.MostLimits(screenLimits)
	in.Answer.Whole() // the screen is laid out here
	f.talk, f.time = newTalkers(in), newServices(in)
	f.socks = line.NewBusiest(in, "sockets", "busiest sockets", f.top)
	return f
}

func (f *overview) row(r *engine.Row) {
	if r.Sock != nil {
		f.socks.Add(r.Sock)
	}
	f.talk.row(r)
	f.procs.Add(r)
}

// Finish shows one screen, or all tables.
func (f *overview) Finish(a *render.Answer) {
	verdict, cost := f.wrong.Judge(), f.spent.Total()
	if a.Fits() {
		f.screen(verdict, cost)
		return
	}
	findings.Show(f.in, verdict, true)
	f.recording(cost)
	f.talk.show(f.top)
	f.time.show(f.top)
	f.events()
	t := render.ListOf(f.in.Table, render.Spec{Name: "processes", Title: "busiest processes"}, busyFields...)
	for _, e := range f.procs.Best(f.top, shape.Process.Compare) {
		t.Line(e)
	}
	f.socks.Finish(a)
	if !f.in.Flag("brief") {
		f.answers(a)
	}
	if slow := schema.SlowAttach(f.in.Meta.Recording.AttachNS); slow != "" {
		a.Note(slow)
	}
	if basis := probeBasis(cost); basis != "" {
		a.Note(basis)
	}
	if n := f.procs.Nobody(); n > 0 {
		a.Note("rows from packets and interrupts without a known process: " + engine.Thousands(n))
	}
}

type busyProcess = agg.Entry[shape.Process]

var busyFields = []render.Field[busyProcess]{
	render.Num("pid", func(p *busyProcess) int64 { return p.Key.Pid }).Text("PID", -7),
	render.Text("comm", func(p *busyProcess) string { return p.Key.Comm }).Text("COMM", -16),
	render.Num("rows", func(p *busyProcess) int64 { return p.Count }).Text("ROWS", 10),
}

// eventAccount is how much of an event there is, and how it was seen.
type eventAccount struct {
	name, state string
	rows, lost  int64
}

func (f *overview) events() {
	t := render.ListOf(f.in.Table, render.Spec{Name: "events", Title: "events"},
		render.Text("event", func(e *eventAccount) string { return e.name }).Text("EVENT", -21),
		render.Num("rows", func(e *eventAccount) int64 { return e.rows }).Text("ROWS", 12),
		render.Num("lost", func(e *eventAccount) int64 { return e.lost }).Text("LOST", 10),
		render.Text("state", func(e *eventAccount) string { return e.state }).Text("HOOKS", 0))
	for i := range schema.Events {
		name := schema.Events[i].Name
		rows, lost, state := engine.Account(f.in.Meta, name)
		if rows > 0 || lost > 0 || state != "" && state != schema.HookNotAsked {
			t.Line(eventAccount{name, state, rows, lost})
		}
	}
}

// answerable is an analysis, and whether and what it can answer.
type answerable struct{ name, can, about string }

func (f *overview) answers(a *render.Answer) {
	t := render.ListOf(f.in.Table, render.Spec{Name: "analyses", Title: "analyses this recording can answer"},
		render.Text("analysis", func(l *answerable) string { return l.name }).Text("ANALYSIS", -16),
		render.Text("can", func(l *answerable) string { return l.can }).Text("CAN", -3),
		render.Text("about", func(l *answerable) string { return l.about }).Text("QUESTION", 0))
	for _, an := range All() {
		o, err := engine.Check(f.in.Meta, an)
		can, about := "yes", an.Question
		if err != nil || o.Status != engine.Answered {
			can, about = "no", o.Why
		} else if o.Sampled != "" {
			about += " (" + o.Sampled + ")"
		}
		t.Line(answerable{an.Name, can, about})
	}
}
