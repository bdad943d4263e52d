package analyze

import (
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "tcpstates",
	Group:    groupLife,
	Question: "how long do TCP sessions stay in each state?",
	Help: `One line per state change. MS is the time spent in the old state, 0 if the recording does
not have its start. PID and COMM own the socket. Addresses and ports that the kernel sets
later are shown from the start. --compat shows the task on the CPU, and the addresses and
ports as they were at that moment, as BCC does. --summary adds up how long sockets stayed
in each state, by the keys that --by names.`,
	Example: "tcpstates --summary",
	Options: slices.Concat(line.StampOptions, []engine.Option{
		{Name: "wide", Short: "w", Kind: engine.Flag, Doc: "wide enough for IPv6, with the IP version"}, line.CSVOption},
		line.PortOptions, line.FamilyOptions, []engine.Option{
			{Name: "summary", Kind: engine.Flag, Doc: "count, average and total microseconds per state instead of lines"},
			engine.By("state", engine.SocketKeys...),
			engine.Compat("task on the CPU, addresses and ports of that moment")}),
	New: newTcpstates,
})

// change is a change of state.
type change struct {
	from, to string
	ns       int64       // in the old state, -1 if unknown
	task     int64       // process on the CPU
	early    bool        // the kernel had not filled in the ends yet
	seen     *agg.Socket // task and ends of that moment, for --compat
}

// reached is the state that a socket came to last, and when.
type reached struct {
	ts    int64
	state string
}

type tcpstates struct {
	in           *engine.Input
	t            *render.List[changeLine]
	states       *shape.Map[engine.Key, agg.Stats]
	keys         *engine.Keys
	stamp        *line.Stamp
	family       line.FamilyFilter
	ports        line.PortFilter
	before       agg.PerSocket[reached]
	gaps         *agg.Gaps
	lines        line.Waiting[change]
	names        agg.Intern
	compat, wide bool

	changes, strangers, filled int64

	Pid, Lport, Rport                      scan.Int
	OldState, NewState, Comm, Laddr, Raddr scan.Str
}

func newTcpstates(in *engine.Input) engine.Fold {
	f := &tcpstates{in: in, compat: in.Flag("compat"), wide: in.Flag("wide"), family: line.NewFamilyFilter(in), ports: line.NewPortFilter(in)}
	in.Bind(f)
	in.Sockets("their first change has no duration")
	in.On("tcp_state", f.state)
	f.gaps = in.Gaps("tcp_state")
	if in.Flag("summary") {
		f.keys = in.Keys(map[string]engine.KeyDef{"state": {render.Text("state", func(r *engine.Row) string { return r.Str(f.OldState) })}})
		f.states = shape.Stats(in, "state_us", "us", f.keys.Fields...)
		return f.states
	}
	f.stamp = line.NewStamp(in, in.Flag("time"), in.Flag("timestamp"), 6)
	f.stamp.Compat = f.compat
	f.lines.Line = f.line
	in.OnEnd(f.lines.Ended)
	look := render.Columns
	if in.Flag("csv") {
		look = render.CSV
	}
	f.t = render.ListOf(in.Table, render.Spec{Name: "changes", Look: look}, f.fields()...)
	return f
}

func (f *tcpstates) state(r *engine.Row) {
	if !r.Sock.TCP() {
		return
	}
	before := f.before.Of(r.Sock)
	c := change{r.Str(f.OldState), r.Str(f.NewState), -1, r.Int(f.Pid), r.Int(f.Lport) == 0, nil}
	if before.ts != 0 && (before.state == c.from || !f.gaps.Between(before.ts, r.TS)) { // else the change to it was lost
		c.ns = r.TS - before.ts
	}
	*before = reached{r.TS, c.to}
	switch {
	case f.states != nil:
		if c.ns >= 0 && f.wants(r.Sock) {
			f.states.Add(f.keys.Of(r), c.ns/1000)
		}
	default:
		if f.compat {
			c.seen = &agg.Socket{Addr: r.Sock.Addr, Gen: r.Sock.Gen, Pid: c.task, Comm: f.names.Get(r.Str(f.Comm)),
				Laddr: f.names.Get(r.Str(f.Laddr)), Lport: r.Int(f.Lport), Raddr: f.names.Get(r.Str(f.Raddr)), Rport: r.Int(f.Rport)}
		}
		f.lines.Add(r.Sock, r.TS, c)
	}
}

// Finish writes the lines that still wait and tells the rules apart.
func (f *tcpstates) Finish(a *render.Answer) {
	if f.lines.Rest(); f.strangers+f.filled > 0 {
		a.Note(fmt.Sprintf("of %s changes, the task on the CPU is not the owner in %s, and the local port was not set yet in %s; --compat shows the task and the port of that moment",
			engine.Thousands(f.changes), engine.Thousands(f.strangers), engine.Thousands(f.filled)))
	}
}

// changeLine is a change as a line shows it.
type changeLine struct {
	*agg.Socket
	change
	ts int64
}

func (f *tcpstates) fields() []render.Field[changeLine] {
	c, comm, addr := "", -10, -15
	if f.compat {
		c = "C-"
	}
	if f.wide {
		comm, addr = -16, -26
	}
	fs := append(line.StampFields(f.stamp, -9, func(l *changeLine) int64 { return l.ts }),
		render.Address("sock", func(l *changeLine) uint64 { return l.Addr }).As(render.Hex).Text("SKADDR", -16),
		render.NumOr("pid", func(l *changeLine) (int64, bool) { return l.Pid, l.Pid != 0 || f.compat }).Text(c+"PID", -5),
		render.Text("comm", func(l *changeLine) string { return l.Comm }).Text(c+"COMM", comm).Cut())
	if f.wide {
		fs = append(fs, render.Num("ip", func(l *changeLine) int64 { return line.IPVersion(l.Laddr) }).Text("IP", -2))
	}
	ends := render.Within(func(l *changeLine) *agg.Socket { return l.Socket }, line.EndFields...)
	ends[0], ends[2] = ends[0].Text("LADDR", addr), ends[2].Text("RADDR", addr)
	return append(slices.Concat(fs, ends),
		render.Text("old_state", func(l *changeLine) string { return l.from }).Text("OLDSTATE", -11),
		render.Text("new_state", func(l *changeLine) string { return l.to }).Text("NEWSTATE", -11).Sep(" -> "),
		render.Num("ms", func(l *changeLine) int64 { return max(l.ns, 0) / 1000 }).As(render.Fixed).Digits(3).Text("MS", 0).ForPeople(),
		render.NumOr("old_state_ns", func(l *changeLine) (int64, bool) { return l.ns, l.ns >= 0 }).In("ns"),
		render.Num("generation", func(l *changeLine) int64 { return int64(l.Gen) }),
		render.Num("ts_ns", func(l *changeLine) int64 { return l.ts }).In("ns"))
}

// wants reports whether the options select the socket.
func (f *tcpstates) wants(s *agg.Socket) bool { return f.family.Wants(s.Laddr) && f.ports.Wants(s) }

func (f *tcpstates) line(s *agg.Socket, ts int64, c change) {
	shown := s
	if f.compat {
		shown = c.seen
	}
	if !f.wants(shown) {
		return
	}
	if f.changes++; s.Pid != 0 && s.Pid != c.task {
		f.strangers++
	}
	if c.early && s.Lport != 0 {
		f.filled++
	}
	f.t.Line(changeLine{shown, c, ts})
}
