package analyze

import (
	"fmt"
	"strings"
	"time"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/findings"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

var _ = register(engine.Analysis{
	Name:     "overview",
	Group:    groupStart,
	Question: "what is in this recording?",
	Main:     []string{"events"},
	Help: `What looks wrong, host and time of the recording, its events with losses and hooks, the
busiest processes and sockets, and which analyses it can answer. This is what analyze
shows without the name of an analysis. What looks wrong is the worst finding of each
rule; netrec analyze findings --help lists the rules.`,
	Example: "overview --top 3",
	Options: []engine.Option{engine.Top("10", "how many processes and sockets"),
		{Name: "brief", Kind: engine.Flag, Doc: "without the list of analyses"}, findings.ThresholdOption()},
	New: newOverview,
})

type overview struct {
	in        *engine.Input
	wrong     *findings.Set
	top       int
	procs     *engine.Busy[process]
	socks     *busiest
	cpu       int64 // of the recorder so far, ns
	user, sys scan.Col
}

func newOverview(in *engine.Input) engine.Fold {
	f := &overview{in: in, top: max(1, in.Number("top")), user: in.Int("user_ns"), sys: in.Int("sys_ns")}
	f.wrong = findings.New(in, in.Text("threshold"), findings.MostOfRule)
	var names agg.Intern
	f.procs = engine.NewBusy(in, func(pid int64, comm string) process { return process{names.Get(comm), pid} })
	for i := range schema.Events {
		if e := &schema.Events[i]; !e.Own() {
			in.Use(e.Name, "", f.row)
		}
	}
	in.Use("cost", "", func(r *engine.Row) { f.cpu = r.Int(f.user) + r.Int(f.sys) })
	f.socks = newBusiest(in, "sockets", "busiest sockets", f.top)
	return f
}

func (f *overview) row(r *engine.Row) {
	if r.Sock != nil {
		f.socks.add(r.Sock)
	}
	f.procs.Add(r)
}

// Finish writes all tables.
func (f *overview) Finish(a *render.Answer) {
	showFindings(f.in, f.wrong.Judge(), true)
	f.recording()
	f.events()
	if t, best := f.in.Table(render.Spec{Name: "processes", Title: "busiest processes", Columns: []render.Column{render.Col("pid", render.Int).Text("PID", -7),
		render.Col("comm", render.String).Text("COMM", -16), render.Col("rows", render.Int).Text("ROWS", 10)}}), f.procs.Best(f.top, process.Compare); len(best) > 0 {
		for _, e := range best {
			t.Int(e.Key.pid).Str(e.Key.comm).Int(e.Count).End()
		}
	}
	f.socks.Finish(a)
	if !f.in.Flag("brief") {
		f.answers(a)
	}
	if slow := schema.SlowAttach(f.in.Meta.Recording.AttachNS); slow != "" {
		a.Note(slow)
	}
	if n := f.procs.Nobody(); n > 0 {
		a.Note("rows of packets and interrupts whose process is not known: " + engine.Group(n))
	}
}

func (f *overview) recording() {
	m := f.in.Meta
	t := f.in.Table(render.Spec{Name: "recording", Look: render.Record, Columns: []render.Column{
		render.Col("file", render.String).Text("recording", 0), render.Col("host", render.String).Text("host", -10), render.Col("kernel", render.String).Text("kernel", -10),
		render.Col("start", render.String).Text("start", -10), render.Col("seconds", render.Fixed).Digits(3).Text("seconds", -10).In("s"),
		render.Col("end", render.String).Text("ended by", -10), render.Col("rows", render.Int).Text("rows", -10), render.Col("bytes", render.Int).Text("bytes", -10).In("bytes"),
		render.Col("command", render.String).Text("command", -10), render.Col("recorder_ms", render.Int).Text("own CPU ms", -10).In("ms")}})
	rows := int64(0)
	for _, n := range m.Rows {
		rows += n
	}
	stop := max(m.LastNS, m.Recording.StopNS)
	ended := m.Recording.End
	if ended == "" {
		ended = "not ended: killed, or still recording"
	}
	host, start := "", ""
	if m.Host.Name != "" {
		host = fmt.Sprintf("%s, %s, %d CPUs", m.Host.Name, m.Host.Machine, m.Host.CPUs)
	}
	if rows > 0 {
		start = time.Unix(0, f.in.Start()).In(time.FixedZone(m.Host.Zone, m.Host.Offset)).Format(time.RFC3339)
	}
	t.Str(m.Path).StrOr(host).StrOr(m.Host.Kernel).StrOr(start)
	t.Int((stop-f.in.Start())/1e6).Str(ended).Int(rows).IntOr(m.Size, m.Size > 0).StrOr(strings.Join(m.Recording.Command, " ")).IntOr(f.cpu/1e6, f.cpu > 0).End()
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
