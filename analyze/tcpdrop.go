package analyze

import (
	"cmp"
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
	t      *render.List[tcpDropLine]
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
	f.t = render.ListOf(in.Table, render.Spec{Name: "drops"}, f.fields()...)
	return f
}

// tcpDropLine is a packet that was dropped as a line shows it.
type tcpDropLine struct {
	dropped
	ts, pid int64
	comm    string
}

func (f *tcpdrop) fields() []render.Field[tcpDropLine] {
	ts := func(l *tcpDropLine) int64 { return l.ts }
	return []render.Field[tcpDropLine]{
		line.TimeOfDay(f.in, ts),
		render.NumOr("pid", func(l *tcpDropLine) (int64, bool) { return l.pid, l.pid != 0 || f.compat }).Text("PID", -7),
		render.TextOr("comm", func(l *tcpDropLine) string { return l.comm }),
		render.Num("netns", func(l *tcpDropLine) int64 { return l.netns }).TextIf(f.in.Flag("netns"), "NETNS", -10),
		render.Num("ip", func(l *tcpDropLine) int64 { return l.version }).Text("IP", -2),
		render.Text("from", func(l *tcpDropLine) string { return l.from }).Text("SADDR:SPORT", -20),
		render.Text("to", func(l *tcpDropLine) string { return l.to }).Text("DADDR:DPORT", -20).Sep(" > "),
		render.Text("state_flags", func(l *tcpDropLine) string { return cmp.Or(l.state, "-") + " (" + tcpFlags(l.flags) + ")" }).Text("STATE (FLAGS)", -20).ForPeople(),
		render.TextOr("reason_code_text", func(l *tcpDropLine) string { return f.reason(l.reason) }).Text("REASON (CODE)", 0).ForPeople(),
		render.TextOr("reason", func(l *tcpDropLine) string { return l.reason }),
		render.NumOr("reason_code", func(l *tcpDropLine) (int64, bool) { code, known := f.codes[l.reason]; return code, known }),
		render.TextOr("state", func(l *tcpDropLine) string { return l.state }),
		render.Num("tcp_flags", func(l *tcpDropLine) int64 { return l.flags }),
		render.Num("len_bytes", func(l *tcpDropLine) int64 { return l.length }).In("bytes"),
		render.Num("ts_ns", ts).In("ns"),
		render.TextOr("kstack", func(l *tcpDropLine) string { return l.stack }).As(render.Stack).Text("STACK", 0),
	}
}

// reason is a reason with its number, where that is known.
func (f *tcpdrop) reason(name string) string {
	if code, known := f.codes[name]; known {
		return fmt.Sprintf("%s (%d)", name, code)
	}
	return name
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
	f.t.Line(tcpDropLine{d, ts, pid, comm})
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
