package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "tcpconnect",
	Group:    groupWho,
	Question: "who opens TCP connections to whom, how does it end, and at what rate?",
	Help: `One line per attempt, printed when its result is known. Connections within this host count
too. RESULT is connected, the error, closed if the process gave up, or pending if the
recording ended first. LATms is the time of the handshake. -d adds the last name that the
thread looked up before it connected: the recording has names and addresses, but not which
name resolved to which address.
BCC leaves out attempts that TCP could not start, and does not show the result of the
others; --compat does the same.

The options are BCC's; -p works as in every analysis.
` + line.CgroupsHelp,
	Example: "tcpconnect -t --port 443",
	Options: slices.Concat([]engine.Option{
		{Name: "timestamp", Short: "t", Kind: engine.Flag, Doc: "seconds since the start"},
		{Name: "lport", Short: "L", Kind: engine.Flag, Doc: "add the local port"},
		line.PortsOption("ports", "P", "remote"),
		{Name: "count", Short: "c", Kind: engine.Flag, Doc: "attempts per local address, remote address and port instead of lines"},
		{Name: "dns", Short: "d", Kind: engine.Flag, Doc: "add the last name that the thread looked up"},
	}, line.UserOptions, line.FamilyOptions, []engine.Option{engine.Compat("only attempts that TCP started, without their result")}),
	New: newTcpconnect,
})

type tcpconnect struct {
	in     *engine.Input
	t      *render.List[attemptLine]
	stamp  *line.Stamp
	users  *line.Users
	family line.FamilyFilter
	ports  line.PortList
	lines  line.Waiting[calls.Attempt]
	tries  *calls.Attempts
	flows  agg.Top[connectFlow]
	looked lookedUp
	names  agg.Intern
	sums   line.Outcomes

	all, unborn                int64 // attempts, and those that TCP could not begin
	compat, dns, lport, counts bool

	Pid, Tid, Ret, Rport scan.Int
	Comm, Laddr, Raddr   scan.Str
}

func newTcpconnect(in *engine.Input) engine.Fold {
	f := &tcpconnect{in: in, stamp: line.NewStamp(in, false, in.Flag("timestamp"), 3), family: line.NewFamilyFilter(in), users: line.NewUsers(in), ports: line.NewPortList(in, "ports"), sums: line.Outcomes{}, compat: in.Flag("compat"), dns: in.Flag("dns"), lport: in.Flag("lport"), counts: in.Flag("count")}
	in.Bind(f)
	f.stamp.Compat = f.compat
	in.Sockets("")
	f.tries = calls.NewAttempts(in, f.done)
	f.tries.Listen(f.begin)
	if f.dns {
		f.looked.listen(in)
	}
	f.lines.Line = f.line
	in.OnEnd(f.tries.Over)
	in.OnEnd(f.lines.Ended)
	f.t = render.ListOf(in.Table, render.Spec{Name: "connects"}, f.fields()...)
	return f
}

func (f *tcpconnect) begin(r *engine.Row) {
	if r.Sock == nil || !f.family.Wants(r.Str(f.Raddr)) || r.Int(f.Rport) != 0 && !f.ports.Has(r.Int(f.Rport)) {
		return
	}
	uid, wanted := f.users.Wants(r)
	if !wanted {
		return
	}
	if f.all++; r.Int(f.Ret) != 0 {
		f.unborn++
	}
	if f.counts && f.compat {
		if r.Int(f.Ret) == 0 {
			f.flows.Add(connectFlow{f.names.Get(r.Str(f.Laddr)), f.names.Get(r.Str(f.Raddr)), r.Int(f.Rport)}, 1)
		}
		return
	}
	f.stamp.First = cmp.Or(f.stamp.First, r.TS)
	who := calls.Attempt{Uid: uid, Who: shape.Process{Comm: f.names.Get(r.Str(f.Comm)), Pid: r.Int(f.Pid)}, Query: f.looked.last[r.Int(f.Tid)]}
	if f.tries.Begin(r, who); f.compat && r.Int(f.Ret) == 0 {
		who.At = r.TS
		f.lines.Add(r.Sock, r.TS, who)
	}
}

// done lets the line wait until the ends of its socket are known.
func (f *tcpconnect) done(s *agg.Socket, a calls.Attempt) {
	if !f.compat {
		f.lines.Add(s, max(a.At, a.Ended), a)
	}
}

// Finish writes what waits, or the counts, and sums up.
func (f *tcpconnect) Finish(a *render.Answer) {
	f.lines.Rest()
	f.users.Note(a, "attempt", "attempts")
	if showFlows(f.in, &f.flows); f.all == 0 {
		return
	}
	a.Note(fmt.Sprintf("%s, %s per second", engine.Plural(f.all, "attempt", "attempts"), line.PerSecond(f.in, f.all)))
	if len(f.sums) > 0 && !f.compat {
		a.Note("results: " + f.sums.String())
	}
	shape.NoteRules(a, f.unborn, f.compat,
		fmt.Sprintf("--compat: left out %s that TCP could not start", engine.Plural(f.unborn, "attempt", "attempts")),
		fmt.Sprintf("%s that TCP could not start; BCC leaves them out (--compat)", engine.Plural(f.unborn, "attempt", "attempts")))
}

// connectFlow is the key of BCC's count of connects.
type connectFlow struct {
	laddr, raddr string
	rport        int64
}

type connectCount = agg.Entry[connectFlow]

var connectCountFields = []render.Field[connectCount]{
	render.TextOr("laddr", func(c *connectCount) string { return c.Key.laddr }).Text("LADDR", -25),
	render.TextOr("raddr", func(c *connectCount) string { return c.Key.raddr }).Text("RADDR", -25),
	render.Num("rport", func(c *connectCount) int64 { return c.Key.rport }).Text("RPORT", -20),
	render.Num("connects", func(c *connectCount) int64 { return c.Count }).Text("CONNECTS", -10),
}

// showFlows lists the flows with most connects, as BCC does.
func showFlows(in *engine.Input, flows *agg.Top[connectFlow]) {
	t := render.ListOf(in.Table, render.Spec{Name: "counts"}, connectCountFields...)
	for _, c := range flows.Best(1<<16, func(a, b connectFlow) int {
		return cmp.Or(cmp.Compare(a.laddr, b.laddr), cmp.Compare(a.raddr, b.raddr), cmp.Compare(a.rport, b.rport))
	}) {
		t.Line(c)
	}
}

// attemptLine is an attempt as a line shows it.
type attemptLine struct {
	*agg.Socket
	calls.Attempt
	raddr string
	rport int64
}

// fields are those of tcpconnect's lines.
func (f *tcpconnect) fields() []render.Field[attemptLine] {
	at := func(l *attemptLine) int64 { return l.At }
	fs := append(line.StampFields(f.stamp, -9, at),
		line.UserField(f.users, func(l *attemptLine) int64 { return l.Uid }),
		render.Num("pid", func(l *attemptLine) int64 { return l.Who.Pid }).Text("PID", -7),
		render.Text("comm", func(l *attemptLine) string { return l.Who.Comm }).Text("COMM", -12).Cut(),
		render.Num("ip", func(l *attemptLine) int64 { return line.IPVersion(l.raddr) }).Text("IP", -2),
		render.TextOr("saddr", func(l *attemptLine) string { return l.Laddr }).Text("SADDR", -16),
		render.NonZero("lport", func(l *attemptLine) int64 { return l.Lport }).TextIf(f.lport, "LPORT", -6),
		render.TextOr("daddr", func(l *attemptLine) string { return l.raddr }).Text("DADDR", -16),
		render.Num("dport", func(l *attemptLine) int64 { return l.rport }).Text("DPORT", -6))
	if !f.compat {
		fs = append(fs, render.Text("result", func(l *attemptLine) string { return l.Result }).Text("RESULT", -12).Fails(render.FailedWord),
			render.NumOr("lat_ms", func(l *attemptLine) (int64, bool) {
				return (l.Ended - l.Attempt.Began) / 1000, l.Attempt.Began != 0 && l.Ended != 0
			}).As(render.Fixed).Digits(3).Text("LATms", 9).In("ms"))
	}
	if f.dns {
		fs = append(fs, render.TextOr("query", func(l *attemptLine) string { return l.Query }).Text("QUERY", 0))
	}
	return append(append(fs, render.Within(func(l *attemptLine) *agg.Socket { return l.Socket }, line.IdentityFields...)...), render.Num("ts_ns", at).In("ns"))
}

// line shows an attempt whose ends are known.
func (f *tcpconnect) line(s *agg.Socket, _ int64, a calls.Attempt) {
	raddr, rport := a.Raddr, a.Rport
	if rport == 0 {
		raddr, rport = s.Raddr, s.Rport
	}
	if !f.ports.Has(rport) { // TCP could not begin it, and its port is known only now
		f.all, f.unborn = f.all-1, f.unborn-1
		return
	}
	if f.counts {
		f.flows.Add(connectFlow{f.names.Get(s.Laddr), f.names.Get(raddr), rport}, 1)
		return
	}
	f.sums[a.Result]++
	f.t.Line(attemptLine{s, a, raddr, rport})
}

// maxThreads is how many threads are remembered for what they did last.
const maxThreads = 1 << 16

// lookedUp remembers the last name that each thread looked up.
type lookedUp struct {
	last  map[int64]string // by thread
	names agg.Intern
}

func (l *lookedUp) listen(in *engine.Input) {
	l.last = map[int64]string{}
	in.OnLoss([]string{"dns_call"}, func() { clear(l.last) })
	tid, host := in.Int("tid"), in.Str("host")
	in.Use("dns_call", "there are no names", func(r *engine.Row) {
		if len(l.last) >= maxThreads {
			clear(l.last)
		}
		l.last[r.Int(tid)] = l.names.Get(r.Str(host))
	})
}
