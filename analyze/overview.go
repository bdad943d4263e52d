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
	if t, best := f.in.Table(render.Spec{Name: "processes", Title: "busiest processes", Columns: []render.Column{render.Col("pid", render.Int).Text("PID", -7),
		render.Col("comm", render.String).Text("COMM", -16), render.Col("rows", render.Int).Text("ROWS", 10)}}), f.procs.Best(f.top, shape.Process.Compare); len(best) > 0 {
		for _, e := range best {
			t.Int(e.Key.Pid).Str(e.Key.Comm).Int(e.Count).End()
		}
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

func (f *overview) events() {
	t := f.in.Table(render.Spec{Name: "events", Title: "events", Columns: []render.Column{render.Col("event", render.String).Text("EVENT", -21),
		render.Col("rows", render.Int).Text("ROWS", 12), render.Col("lost", render.Int).Text("LOST", 10), render.Col("state", render.String).Text("HOOKS", 0)}})
	for i := range schema.Events {
		name := schema.Events[i].Name
		rows, lost, state := engine.Account(f.in.Meta, name)
		if rows > 0 || lost > 0 || state != "" && state != schema.HookNotAsked {
			t.Str(name).Int(rows).Int(lost).Str(state).End()
		}
	}
}

func (f *overview) answers(a *render.Answer) {
	t := f.in.Table(render.Spec{Name: "analyses", Title: "analyses this recording can answer", Columns: []render.Column{
		render.Col("analysis", render.String).Text("ANALYSIS", -16), render.Col("can", render.String).Text("CAN", -3), render.Col("about", render.String).Text("QUESTION", 0)}})
	for _, an := range All() {
		o, err := engine.Check(f.in.Meta, an)
		can, about := "yes", an.Question
		if err != nil || o.Status != engine.Answered {
			can, about = "no", o.Why
		} else if o.Sampled != "" {
			about += " (" + o.Sampled + ")"
		}
		t.Str(an.Name).Str(can).Str(about).End()
	}
}
