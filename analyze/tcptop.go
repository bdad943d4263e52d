package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "tcptop",
	Group:    groupMuch,
	Question: "which processes send and receive most over TCP, to whom, second by second?",
	Help: `For each interval the connections that moved data, greatest sum first. RX_KB and TX_KB
are the bytes that calls of the process received and sent, divided by 1024 and
truncated; reads with MSG_PEEK move nothing. From the sends and receives of TCP
where they were recorded (tcp_msg), else from those of all sockets (sock_io). Data
that the kernel moves by itself, as NFS and splice do, may be missing.
BCC counts reads with MSG_PEEK: --compat does so.`,
	Example: "tcptop --interval 5 --top 10",
	Options: slices.Concat([]engine.Option{
		{Name: "interval", Short: "i", Kind: engine.Number, Default: "1", Doc: "seconds; 0 for the whole recording"},
		engine.Top("20", "how many lines of each interval"),
	}, familyOptions, []engine.Option{engine.Compat("count MSG_PEEK reads too")}),
	New: newTcptop,
})

// tcptopKey is a connection and the process that used it.
type tcptopKey struct {
	serial int64
	who    process
}

type tcptopLine struct {
	laddr, raddr string
	lport, rport int64
	rx, tx       int64
}

type tcptop struct {
	in     *engine.Input
	t      *render.Table
	lines  map[tcptopKey]*tcptopLine
	names  agg.Intern
	family familyFilter
	step   int64 // ns
	from   int64 // of the interval
	top    int
	compat bool
	peeked int64 // bytes

	dir, ret, flags, pid, comm, protocol scan.Col
}

func newTcptop(in *engine.Input) engine.Fold {
	f := &tcptop{in: in, lines: map[tcptopKey]*tcptopLine{}, step: int64(in.Number("interval")) * 1e9, from: in.Start(), top: max(1, in.Number("top")),
		family: newFamilyFilter(in), compat: in.Flag("compat"), dir: in.Str("dir"), ret: in.Int("ret"), flags: in.Int("msg_flags"),
		pid: in.Int("pid"), comm: in.Str("comm"), protocol: in.Str("protocol")}
	in.Sockets("")
	in.On(firstOf(in, "tcp_msg", "sock_io"), f.row)
	f.t = in.Table(render.Spec{Name: "top", Sections: true, Columns: []render.Column{render.Col("time", render.Clock).Text("TIME", 0),
		render.Col("pid", render.Int).Text("PID", -7), render.Col("comm", render.String).Text("COMM", -12).Cut(),
		render.Col("laddr", render.String).Text("LADDR", -21), render.Col("raddr", render.String).Text("RADDR", -21),
		render.Col("rx_kb", render.Int).Text("RX_KB", 6).In("KiB"), render.Col("tx_kb", render.Int).Text("TX_KB", 6).In("KiB"),
		render.Col("rx_bytes", render.Int).In("bytes"), render.Col("tx_bytes", render.Int).In("bytes"), render.Col("ts_ns", render.Int).In("ns")}})
	return f
}

// firstOf is the first of several events that the recording has, or the first of all.
func firstOf(in *engine.Input, events ...string) string {
	for _, e := range events {
		if in.Recorded(e) {
			return e
		}
	}
	return events[0]
}

func (f *tcptop) row(r *engine.Row) {
	if r.Sock == nil || r.Event.Name == "sock_io" && r.Str(f.protocol) != "tcp" || !f.family.wants(r.Sock.Laddr) {
		return
	}
	for f.step > 0 && r.TS >= f.from+f.step {
		f.show()
		f.from += max(1, (r.TS-f.from)/f.step) * f.step
	}
	n, send := r.Int(f.ret), r.Str(f.dir) == "send"
	if !send && n > 0 && r.Int(f.flags)&msgPeek != 0 {
		if f.peeked += n; !f.compat {
			return
		}
	}
	if n <= 0 {
		return
	}
	l := f.line(r)
	if send {
		l.tx += n
	} else {
		l.rx += n
	}
}

func (f *tcptop) line(r *engine.Row) *tcptopLine {
	k := tcptopKey{r.Sock.Serial, process{f.names.Get(r.Str(f.comm)), r.Int(f.pid)}}
	l := f.lines[k]
	if l == nil {
		if len(f.lines) >= agg.MaxKeys {
			k = tcptopKey{}
		}
		l = &tcptopLine{laddr: r.Sock.Laddr, raddr: r.Sock.Raddr, lport: r.Sock.Lport, rport: r.Sock.Rport}
		f.lines[k] = l
	}
	return l
}

// show writes the interval that is over.
func (f *tcptop) show() {
	keys := slices.SortedFunc(maps.Keys(f.lines), func(a, b tcptopKey) int {
		x, y := f.lines[a], f.lines[b]
		return cmp.Or(cmp.Compare(y.rx+y.tx, x.rx+x.tx), cmp.Compare(a.serial, b.serial), a.who.Compare(b.who))
	})
	for _, k := range keys[:min(len(keys), f.top)] {
		l := f.lines[k]
		f.t.Int(f.in.Local(f.from)).Int(k.who.pid).Str(k.who.comm).Str(endOf(l.laddr, l.lport)).Str(endOf(l.raddr, l.rport))
		f.t.Int(l.rx / 1024).Int(l.tx / 1024).Int(l.rx).Int(l.tx).Int(f.from).End()
	}
	clear(f.lines)
}

// Finish writes the last interval.
func (f *tcptop) Finish(a *render.Answer) {
	f.show()
	noteRules(a, f.peeked, f.compat,
		fmt.Sprintf("original rule: %s bytes that were only looked at with MSG_PEEK are counted", engine.Group(f.peeked)),
		fmt.Sprintf("%s bytes only looked at with MSG_PEEK are left out; BCC counts them (--compat)", engine.Group(f.peeked)))
}
