package analyze

import (
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/findings"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
	"netrec/schema"
)

var _ = register(engine.Analysis{
	Name:     "tcpdrop",
	Group:    groupLost,
	Question: "which TCP packets does the kernel drop, in which state, why and on what path?",
	Help: `One block per dropped TCP packet: source and destination, the state of its socket and the
flags of its header, the reason as the recorded kernel names and numbers it, and the kernel
stack. PID owns the socket, if the packet reached one; packets for no socket have neither
owner nor state. Kernels before 5.17 give no reason. Drops in hardware, or before the
packet became an sk_buff, are not seen.
Packets that were still in a socket's queues when it closed (QUEUE_PURGE) are not drops by
TCP: they are counted, and --purged shows them.
BCC shows the process on the CPU, which is unrelated in an interrupt, and also the packets
purged at close; --compat does the same.`,
	Example: "tcpdrop --port 443",
	Options: append(line.FamilyOptions[:len(line.FamilyOptions):len(line.FamilyOptions)],
		engine.Option{Name: "netns", Kind: engine.Flag, Doc: "the network namespace too"}, engine.Option{Name: "purged", Kind: engine.Flag, Doc: "also packets purged from the queues of closing sockets"}, engine.Compat("process on the CPU")),
	New: newTcpdrop,
})

type tcpdrop struct {
	in     *engine.Input
	t      *render.Table
	lines  line.Waiting[dropped]
	family line.FamilyFilter
	names  agg.Intern
	codes  map[string]int64 // of reasons
	compat bool
	purged bool // are shown

	drops, strangers, nobody, purges int64

	Pid, Sport, Dport, Netns, TcpFlags, LenBytes                      scan.Int
	Comm, Saddr, Daddr, Protocol, State, DropReason, Location, Kstack scan.Str
}

// dropped is a packet that was dropped.
type dropped struct {
	task                 shape.Process
	from, to             string
	version, netns       int64
	state, reason, stack string
	flags, length        int64
}

func newTcpdrop(in *engine.Input) engine.Fold {
	f := &tcpdrop{in: in, family: line.NewFamilyFilter(in), compat: in.Flag("compat"), purged: in.Flag("purged")}
	in.Bind(f)
	f.codes = dropCodes(in)
	in.Sockets("")
	in.On("skb_drop", f.row)
	f.lines.Line = f.line
	in.OnEnd(f.lines.Ended)
	netns := render.Col("netns", render.Int)
	if in.Flag("netns") {
		netns = netns.Text("NETNS", -10)
	}
	f.t = in.Table(render.Spec{Name: "drops", Columns: []render.Column{render.Col("time", render.Clock).Text("TIME", -8).ForPeople(),
		render.Col("pid", render.Int).Text("PID", -7), render.Col("comm", render.String), netns, render.Col("ip", render.Int).Text("IP", -2),
		render.Col("from", render.String).Text("SADDR:SPORT", -20), render.Col("to", render.String).Text("DADDR:DPORT", -20).Sep(" > "),
		render.Col("state_flags", render.String).Text("STATE (FLAGS)", -20).ForPeople(), render.Col("reason_code_text", render.String).Text("REASON (CODE)", 0).ForPeople(),
		render.Col("reason", render.String), render.Col("reason_code", render.Int),
		render.Col("state", render.String), render.Col("tcp_flags", render.Int), render.Col("len_bytes", render.Int).In("bytes"),
		render.Col("ts_ns", render.Int).In("ns"), render.Col("kstack", render.Stack).Text("STACK", 0)}})
	return f
}

func (f *tcpdrop) row(r *engine.Row) {
	if r.Str(f.Protocol) != "tcp" || !f.family.Wants(r.Str(f.Saddr)) {
		return
	}
	if findings.Purged(r.Str(f.DropReason), r.Str(f.Location)) {
		if f.purges++; !f.purged && !f.compat {
			return
		}
	}
	f.drops++
	d := dropped{task: shape.Process{Comm: f.names.Get(r.Str(f.Comm)), Pid: r.Int(f.Pid)}, version: line.IPVersion(r.Str(f.Saddr)), netns: r.Int(f.Netns),
		from: line.EndOf(r.Str(f.Saddr), r.Int(f.Sport)), to: line.EndOf(r.Str(f.Daddr), r.Int(f.Dport)), state: f.names.Get(r.Str(f.State)),
		reason: f.names.Get(r.Str(f.DropReason)), stack: f.names.Get(r.Str(f.Kstack)), flags: r.Int(f.TcpFlags), length: r.Int(f.LenBytes)}
	if r.Sock != nil {
		f.lines.Add(r.Sock, r.TS, d)
		return
	}
	// The wait keeps lines in order, so those without a socket go through it too.
	f.nobody++
	f.lines.Pass(r.TS, d)
}

func (f *tcpdrop) line(s *agg.Socket, ts int64, d dropped) {
	pid, comm := s.Pid, s.Comm
	if pid != 0 && pid != d.task.Pid {
		f.strangers++
	}
	if f.compat {
		pid, comm = d.task.Pid, d.task.Comm
	}
	state := d.state
	if state == "" {
		state = "-"
	}
	f.t.Int(f.in.Local(ts)).IntOr(pid, pid != 0 || f.compat).StrOr(comm).Int(d.netns).Int(d.version).Str(d.from).Str(d.to)
	code, known := f.codes[d.reason]
	reason := d.reason
	if known {
		reason = fmt.Sprintf("%s (%d)", reason, code)
	}
	f.t.Str(state+" ("+tcpFlags(d.flags)+")").StrOr(reason).StrOr(d.reason).IntOr(code, known).StrOr(d.state).Int(d.flags).Int(d.length).Int(ts).StrOr(d.stack).End()
}

// Finish writes the lines that still wait and tells the rules apart.
func (f *tcpdrop) Finish(a *render.Answer) {
	f.lines.Rest()
	if n := f.purges; n > 0 && !f.compat && !f.purged {
		a.Note(fmt.Sprintf("not shown, because they are no drops: %s purged from the queues of closing sockets; --purged shows them", engine.Plural(n, "TCP packet", "TCP packets")))
	}
	if f.drops == 0 {
		return
	}
	a.Note(fmt.Sprintf("%s, %s without a socket", engine.Plural(f.drops, "TCP packet dropped", "TCP packets dropped"), engine.Thousands(f.nobody)))
	if f.strangers > 0 {
		a.Note(fmt.Sprintf("the process on the CPU is not the owner in %s; BCC shows the process on the CPU (--compat)", engine.Thousands(f.strangers)))
	}
}

// dropCodes are the numbers that the recording's kernel has for reasons of drops.
func dropCodes(in *engine.Input) map[string]int64 {
	codes := map[string]int64{}
	if in.Meta != nil {
		for name, n := range in.Meta.Enums[schema.DropReasons.Name] {
			codes[strings.TrimPrefix(name, schema.DropReasons.Trim)] = n
		}
	}
	return codes
}

// tcpFlags names the bits of a TCP header's flag byte as BCC does.
func tcpFlags(v int64) string {
	s := ""
	for i, name := range [...]string{"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"} {
		if v>>i&1 == 0 {
			continue
		}
		if s != "" {
			s += "|"
		}
		s += name
	}
	return s
}
