package analyze

import (
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "tcpstates",
	Group:    groupLife,
	Question: "how long do TCP sessions stay in each state?",
	Help: `One line per change of state. MS is the time spent in the old state, 0 where the
recording does not have its beginning. PID and COMM own the socket; ends that the
kernel fills in later are shown from the start. --compat shows the task on the CPU
and the ends as they were at that moment, as BCC does.`,
	Example: "tcpstates --summary",
	Options: []engine.Option{
		{Name: "wide", Short: "w", Kind: engine.Flag, Doc: "room for IPv6 addresses, and the IP version"},
		{Name: "time", Short: "T", Kind: engine.Flag, Doc: "time of day"},
		{Name: "summary", Kind: engine.Flag, Doc: "count, average and total microseconds per state instead of lines"},
		engine.Compat("task on the CPU, ends as they were"),
	},
	New: newTcpstates,
})

// change is a change of state.
type change struct {
	from, to string
	ns       int64 // in the old state, -1 if unknown
	task     int64 // process on the CPU
	early    bool  // the kernel had not filled in the ends yet
}

type tcpstates struct {
	in                 *engine.Input
	t                  *render.Table
	states             *mapOf[text, agg.Stats]
	before             agg.PerSocket[int64]
	lines              waiting[change]
	compat, wide, time bool
	oldState, newState scan.Col
	pid, comm          scan.Col
	laddr, lport       scan.Col
	raddr, rport       scan.Col

	changes, strangers, filled int64
}

func newTcpstates(in *engine.Input) engine.Fold {
	f := &tcpstates{in: in, compat: in.Flag("compat"), wide: in.Flag("wide"), time: in.Flag("time"),
		oldState: in.Str("old_state"), newState: in.Str("new_state"), pid: in.Int("pid"), comm: in.Str("comm"),
		laddr: in.Str("laddr"), lport: in.Int("lport"), raddr: in.Str("raddr"), rport: in.Int("rport")}
	in.Sockets("their first change has no duration")
	in.On("tcp_state", f.state)
	if in.Flag("summary") {
		f.states = statsOf[text](in, "state_us", "us", render.Col("state", render.String))
		return f.states
	}
	f.lines.line = f.line
	in.OnEnd(f.lines.ended)
	f.t = in.Table(render.Spec{Name: "changes", Columns: f.columns()})
	return f
}

func (f *tcpstates) columns() []render.Column {
	c, comm, addr := "", -10, -15
	if f.compat {
		c = "C-"
	}
	var cs []render.Column
	if f.time {
		cs = append(cs, render.Col("time", render.Clock).Text("TIME", -8).ForPeople())
	}
	if f.wide {
		comm, addr = -16, -26
	}
	cs = append(cs, render.Col("sock", render.Hex).Text("SKADDR", -16), render.Col("pid", render.Int).Text(c+"PID", -5),
		render.Col("comm", render.String).Text(c+"COMM", comm).Cut())
	if f.wide {
		cs = append(cs, render.Col("ip", render.Int).Text("IP", -2))
	}
	e := ends()
	e[0], e[2] = e[0].Text("LADDR", addr), e[2].Text("RADDR", addr)
	return append(join(cs, e), render.Col("old_state", render.String).Text("OLDSTATE", -11),
		render.Col("new_state", render.String).Text("NEWSTATE", -11).Sep(" -> "),
		render.Col("ms", render.Fixed).Digits(3).Text("MS", 0).ForPeople(), render.Col("old_state_ns", render.Int).In("ns"),
		render.Col("generation", render.Int), render.Col("ts_ns", render.Int).In("ns"))
}

func (f *tcpstates) state(r *engine.Row) {
	if !isTCP(r.Sock) {
		return
	}
	before := f.before.Of(r.Sock)
	c := change{r.Str(f.oldState), r.Str(f.newState), -1, r.Int(f.pid), r.Int(f.lport) == 0}
	if *before != 0 {
		c.ns = r.TS - *before
	}
	*before = r.TS
	switch {
	case f.states != nil:
		if c.ns >= 0 {
			f.states.Add(text(c.from), c.ns/1000)
		}
	case f.compat:
		s := *r.Sock
		s.Pid, s.Comm = r.Int(f.pid), r.Str(f.comm)
		s.Laddr, s.Lport, s.Raddr, s.Rport = r.Str(f.laddr), r.Int(f.lport), r.Str(f.raddr), r.Int(f.rport)
		f.line(&s, r.TS, c)
	default:
		f.lines.add(r.Sock, r.TS, c)
	}
}

func (f *tcpstates) line(s *agg.Socket, ts int64, c change) {
	if f.changes++; s.Pid != 0 && s.Pid != c.task {
		f.strangers++
	}
	if c.early && s.Lport != 0 {
		f.filled++
	}
	if f.time {
		f.t.Int(f.in.Local(ts))
	}
	f.t.Uint(s.Addr).IntOr(s.Pid, s.Pid != 0 || f.compat).Str(s.Comm)
	if f.wide {
		version := int64(4)
		if strings.Contains(s.Laddr, ":") {
			version = 6
		}
		f.t.Int(version)
	}
	putEnds(f.t, s).Str(c.from).Str(c.to).Int(max(c.ns, 0)/1000).IntOr(c.ns, c.ns >= 0).Int(int64(s.Gen)).Int(ts).End()
}

// Finish writes the lines that still wait and tells the rules apart.
func (f *tcpstates) Finish(a *render.Answer) {
	if f.lines.rest(); f.strangers+f.filled > 0 {
		a.Note(fmt.Sprintf("of %s changes, the owner is not the task on the CPU in %s, and the local port was not set yet in %s; --compat shows them so",
			engine.Group(f.changes), engine.Group(f.strangers), engine.Group(f.filled)))
	}
}
