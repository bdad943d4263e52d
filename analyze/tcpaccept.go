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
	t      *render.Table
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
	f.t = in.Table(render.Spec{Name: "accepts", Columns: f.columns()})
	return f
}

func (f *tcpaccept) columns() []render.Column {
	pid, comm, addr := -7, -12, -16
	ip, wait := render.Col("ip", render.Int), render.Col("wait_us", render.Int).In("us")
	if f.script {
		pid, comm, addr = -6, -14, -39
	} else if ip = ip.Text("IP", -2); !f.compat {
		wait = wait.Text("WAITus", 8)
	}
	return slices.Concat(f.stamp.Columns(-9), []render.Column{render.Col("pid", render.Int).Text("PID", pid), render.Col("comm", render.String).Text("COMM", comm).Cut(), ip,
		render.Col("raddr", render.String).Text("RADDR", addr), render.Col("rport", render.Int).Text("RPORT", -5),
		render.Col("laddr", render.String).Text("LADDR", addr), render.Col("lport", render.Int).Text("LPORT", -5),
		render.Col("bl", render.String).Text("BL", -9).ForPeople(), wait,
		render.Col("backlog", render.Int), render.Col("backlog_limit", render.Int),
		render.Col("child_backlog", render.Int), render.Col("child_backlog_limit", render.Int), render.Col("ts_ns", render.Int).In("ns")}, line.Identity())
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
	n, limit, copied, copiedLimit := r.Int(f.SkAckBacklog), r.Int(f.SkMaxAckBacklog), r.Int(f.ChildAckBacklog), r.Int(f.ChildMaxAckBacklog)
	if f.accepts++; n != copied || limit != copiedLimit {
		f.differ++
	}
	bl, known := "", r.Has(f.SkMaxAckBacklog)
	switch {
	case !known:
	case !f.compat:
		bl = strconv.FormatInt(n, 10) + "/" + strconv.FormatInt(limit, 10)
	default:
		bl = strconv.FormatInt(copied, 10) + "/" + strconv.FormatInt(copiedLimit, 10)
	}
	born := *f.born.Of(s)
	pid, comm := f.in.Owner(r)
	f.stamp.Put(f.t, r.TS).Int(pid).Str(comm).Int(line.IPVersion(r.Str(f.Raddr)))
	f.t.Str(r.Str(f.Raddr)).Int(r.Int(f.Rport)).Str(r.Str(f.Laddr)).Int(r.Int(f.Lport)).Str(bl)
	f.t.IntOr((r.TS-born)/1000, born != 0).IntOr(n, known).IntOr(limit, known).IntOr(copied, r.Has(f.ChildAckBacklog)).IntOr(copiedLimit, r.Has(f.ChildMaxAckBacklog)).Int(r.TS)
	line.PutIdentity(f.t, s).End()
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
