package analyze

import (
	"fmt"
	"slices"
	"strconv"

	"netrec/analyze/agg"
	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "tcpaccept",
	Group:    groupWho,
	Question: "who accepts TCP connections from whom; how deep is the accept queue, how long do they wait in it?",
	Help: `One line per accepted connection. BL is the listener's accept queue at the moment the
connection was taken: connections left in it, and its limit. WAITus is how long the
connection waited in the queue, from the end of its handshake. --bpftrace prints the
columns of the bpftrace version.
That version reads BL from the new socket, which has a copy made at the end of the
handshake; --compat shows the copy. Formats for programs have both.
Connections that no process accepts have no line: tcpaccept-tp lists the ones that were
established, tcpsynbl the ones that found no room.`,
	Example: "tcpaccept --port 80",
	Options: slices.Concat(line.StampOptions, line.FamilyOptions, []engine.Option{
		line.PortsOption("ports", "P", "local"),
		{Name: "bpftrace", Kind: engine.Flag, Doc: "columns of the bpftrace version"},
		engine.Compat("BL as the new socket has it")}),
	New: newTcpaccept,
})

type tcpaccept struct {
	in     *engine.Input
	t      *render.List[tcpAccept]
	stamp  *line.Stamp
	family line.FamilyFilter
	ports  line.PortList
	born   agg.PerSocket[int64] // when the handshake ended
	script bool
	compat bool

	accepts, differ, failed int64

	Lport, Rport, SkAckBacklog, SkMaxAckBacklog, ChildAckBacklog, ChildMaxAckBacklog scan.Int
	NewState, Laddr, Raddr                                                           scan.Str
}

func newTcpaccept(in *engine.Input) engine.Fold {
	f := &tcpaccept{in: in, family: line.NewFamilyFilter(in), ports: line.NewPortList(in, "ports"), script: in.Flag("bpftrace"), compat: in.Flag("compat")}
	in.Bind(f)
	f.stamp = line.NewStamp(in, in.Flag("time") || f.script, in.Flag("timestamp"), 3)
	f.stamp.Compat = f.compat
	in.Sockets("")
	in.Use("tcp_state", "the time in the queue is not known", f.state)
	event := in.FirstOf("tcp_accept_fn", "sys_accept")
	if in.On(event, f.accept); event == "sys_accept" {
		in.Use("tcp_accept_fn", "the length of queues is not known", nil)
	} else {
		calls.WaitedAccepts(in, f.accept)
	}
	f.t = render.ListOf(in.Table, render.Spec{Name: "accepts"}, f.fields()...)
	return f
}

// tcpAccept is an accept as a line shows it.
type tcpAccept struct {
	*engine.Row
	pid, born int64 // born: when the handshake ended, 0 if unknown
	comm      string
}

func (f *tcpaccept) fields() []render.Field[tcpAccept] {
	pid, comm, addr := -7, -12, -16
	if f.script {
		pid, comm, addr = -6, -14, -39
	}
	ts := func(l *tcpAccept) int64 { return l.TS }
	known := func(c scan.Int, told scan.Int) func(*tcpAccept) (int64, bool) {
		return func(l *tcpAccept) (int64, bool) { return l.Int(c), l.Has(told) }
	}
	return append(append(line.StampFields(f.stamp, -9, ts),
		render.Num("pid", func(l *tcpAccept) int64 { return l.pid }).Text("PID", pid),
		render.Text("comm", func(l *tcpAccept) string { return l.comm }).Text("COMM", comm).Cut(),
		render.Num("ip", func(l *tcpAccept) int64 { return line.IPVersion(l.Str(f.Raddr)) }).TextIf(!f.script, "IP", -2),
		render.Text("raddr", func(l *tcpAccept) string { return l.Str(f.Raddr) }).Text("RADDR", addr),
		render.Num("rport", func(l *tcpAccept) int64 { return l.Int(f.Rport) }).Text("RPORT", -5),
		render.Text("laddr", func(l *tcpAccept) string { return l.Str(f.Laddr) }).Text("LADDR", addr),
		render.Num("lport", func(l *tcpAccept) int64 { return l.Int(f.Lport) }).Text("LPORT", -5),
		render.Text("bl", f.bl).Text("BL", -9).ForPeople(),
		render.NumOr("wait_us", func(l *tcpAccept) (int64, bool) { return (l.TS - l.born) / 1000, l.born != 0 }).TextIf(!f.script && !f.compat, "WAITus", 8).In("us"),
		render.NumOr("backlog", known(f.SkAckBacklog, f.SkMaxAckBacklog)),
		render.NumOr("backlog_limit", known(f.SkMaxAckBacklog, f.SkMaxAckBacklog)),
		render.NumOr("child_backlog", known(f.ChildAckBacklog, f.ChildAckBacklog)),
		render.NumOr("child_backlog_limit", known(f.ChildMaxAckBacklog, f.ChildMaxAckBacklog)),
		render.Num("ts_ns", ts).In("ns")),
		render.Within(func(l *tcpAccept) *agg.Socket { return l.Sock }, line.IdentityFields...)...)
}

// bl is the length of the queue and its limit: the listener's, or the copy that the original shows.
func (f *tcpaccept) bl(l *tcpAccept) string {
	n, limit := l.Int(f.SkAckBacklog), l.Int(f.SkMaxAckBacklog)
	if !l.Has(f.SkMaxAckBacklog) {
		return ""
	}
	if f.compat {
		n, limit = l.Int(f.ChildAckBacklog), l.Int(f.ChildMaxAckBacklog)
	}
	return strconv.FormatInt(n, 10) + "/" + strconv.FormatInt(limit, 10)
}

func (f *tcpaccept) state(r *engine.Row) {
	if r.Str(f.NewState) == "ESTABLISHED" {
		*f.born.Of(r.Sock) = r.TS
	}
}

func (f *tcpaccept) accept(r *engine.Row) {
	s := r.Sock
	if s == nil {
		f.failed++
		return
	}
	if !f.family.Wants(r.Str(f.Raddr)) || !f.ports.Has(r.Int(f.Lport)) || r.Str(f.Laddr) == "" { // of another family
		return
	}
	if f.accepts++; r.Int(f.SkAckBacklog) != r.Int(f.ChildAckBacklog) || r.Int(f.SkMaxAckBacklog) != r.Int(f.ChildMaxAckBacklog) {
		f.differ++
	}
	pid, comm := f.in.Owner(r)
	f.t.Line(tcpAccept{r, pid, *f.born.Of(s), comm})
}

// Finish tells the two readings of the queue apart.
func (f *tcpaccept) Finish(a *render.Answer) {
	if f.accepts > 0 {
		a.Note(fmt.Sprintf("%s, %s per second", engine.Plural(f.accepts, "accept", "accepts"), line.PerSecond(f.in, f.accepts)))
	}
	if f.failed > 0 {
		a.Note(engine.Plural(f.failed, "call", "calls") + " returned without a connection")
	}
	shape.NoteRules(a, f.differ, f.compat,
		fmt.Sprintf("--compat: BL is a copy made at the end of the handshake; it differs from the listener in %s of %s", engine.Thousands(f.differ), engine.Thousands(f.accepts)),
		fmt.Sprintf("the original (--compat) shows a copy of BL made at the end of the handshake; it differs in %s of %s", engine.Thousands(f.differ), engine.Thousands(f.accepts)))
}
