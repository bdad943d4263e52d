package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "tcptop",
	Group:    groupMuch,
	Question: "which processes send and receive most over TCP, to whom, second by second?",
	Help: `For each interval, the connections that transferred data, largest sum first. RX_KB and
TX_KB are the bytes that calls of the process received and sent, divided by 1024 and
truncated; reads with MSG_PEEK do not count. The bytes come from the sends and receives of
TCP if these were recorded (tcp_msg), otherwise from those of all sockets (sock_io). Data
that the kernel moves by itself, as NFS and splice do, can be missing.
BCC counts reads with MSG_PEEK; --compat does the same.`,
	Example: "tcptop --interval 5 --by comm,host",
	Options: slices.Concat([]engine.Option{
		{Name: "interval", Short: "i", Kind: engine.Number, Default: "1", Doc: "seconds; 0 for the whole recording"},
		engine.Top("20", "how many lines of each interval"),
		engine.By("pid,comm,conn", append([]string{"tid"}, engine.SocketKeys...)...),
	}, line.FamilyOptions, []engine.Option{engine.Compat("count MSG_PEEK reads too")}),
	New: newTcptop,
})

// topSum is what was moved in an interval.
type topSum struct{ rx, tx int64 }

type topLine = shape.Entry[engine.Key, topSum]

type tcptop struct {
	in     *engine.Input
	t      *render.List[topLine]
	keys   *engine.Keys
	sums   map[engine.Key]*topSum
	ends   agg.PerSocket[[2]string]
	family line.FamilyFilter
	step   int64 // ns
	from   int64 // of the interval
	top    int
	compat bool
	peeked int64 // bytes

	bytes *engine.Bytes

	Ret           scan.Int
	Dir, Protocol scan.Str
}

func newTcptop(in *engine.Input) engine.Fold {
	f := &tcptop{in: in, sums: map[engine.Key]*topSum{}, step: int64(in.Number("interval")) * 1e9, from: in.Start(), top: max(1, in.Number("top")), family: line.NewFamilyFilter(in), compat: in.Flag("compat"), bytes: in.Bytes()}
	in.Bind(f)
	in.Sockets("")
	in.On(in.FirstOf("tcp_msg", "sock_io"), f.row)
	f.keys = in.Keys(map[string]engine.KeyDef{"conn": {
		render.Text("laddr", func(r *engine.Row) string { return f.conn(r)[0] }),
		render.Text("raddr", func(r *engine.Row) string { return f.conn(r)[1] })}})
	time := render.Num("time", func(*topLine) int64 { return in.Local(f.from) }).As(render.Clock).Text("TIME", 0)
	f.t = render.ListOf(in.Table, render.Spec{Name: "top", Sections: true}, append([]render.Field[topLine]{time}, shape.EntryFields(topKeys(f.keys.Fields),
		render.Num("rx_kb", func(s *topSum) int64 { return s.rx / 1024 }).Text("RX_KB", 6).In("KiB"),
		render.Num("tx_kb", func(s *topSum) int64 { return s.tx / 1024 }).Text("TX_KB", 6).In("KiB"),
		render.Num("rx_bytes", func(s *topSum) int64 { return s.rx }).In("bytes"),
		render.Num("tx_bytes", func(s *topSum) int64 { return s.tx }).In("bytes"),
		render.Num("ts_ns", func(*topSum) int64 { return f.from }).In("ns"))...)...)
	return f
}

// topKeys gives keys the widths of the original.
func topKeys(keys []render.Field[engine.Key]) []render.Field[engine.Key] {
	keys = slices.Clone(keys)
	for i, k := range keys {
		width := map[string]int{"pid": -7, "comm": -12, "laddr": -21, "raddr": -21}[k.Name]
		if k = k.Text(strings.ToUpper(k.Name), cmp.Or(width, -16)); k.Name == "comm" {
			k = k.Cut()
		}
		keys[i] = k
	}
	return keys
}

// conn is the key of a connection: its ends as BCC writes them.
func (f *tcptop) conn(r *engine.Row) *[2]string {
	s, e := r.Sock, f.ends.Of(r.Sock)
	if e[0] == "" || !s.Tuple() {
		*e = [2]string{line.EndOf(s.Laddr, s.Lport), line.EndOf(s.Raddr, s.Rport)}
	}
	return e
}

func (f *tcptop) row(r *engine.Row) {
	if r.Sock == nil || r.Event.Name == "sock_io" && r.Str(f.Protocol) != "tcp" || !f.family.Wants(r.Sock.Laddr) {
		return
	}
	if f.step > 0 && r.TS-f.from >= f.step {
		f.show()
		f.from += (r.TS - f.from) / f.step * f.step
	}
	n, send := r.Int(f.Ret), r.Str(f.Dir) == "send"
	if n > 0 && f.bytes.Peeked(r) {
		if f.peeked += n; !f.compat {
			return
		}
	}
	if n <= 0 {
		return
	}
	k := f.keys.Of(r)
	sum := f.sums[k]
	if sum == nil {
		sum = &topSum{}
		f.sums[k] = sum
	}
	n *= f.in.Weigh(n)
	if send {
		sum.tx += n
	} else {
		sum.rx += n
	}
}

// show writes the interval that is over.
func (f *tcptop) show() {
	keys := slices.SortedFunc(maps.Keys(f.sums), func(a, b engine.Key) int {
		x, y := f.sums[a], f.sums[b]
		return cmp.Or(cmp.Compare(y.rx+y.tx, x.rx+x.tx), a.Compare(b))
	})
	for _, k := range keys[:min(len(keys), f.top)] {
		f.t.Line(topLine{Key: k, Value: f.sums[k]})
	}
	clear(f.sums)
	f.keys.Forget()
}

// Finish writes the last interval.
func (f *tcptop) Finish(a *render.Answer) {
	f.show()
	shape.NoteRules(a, f.peeked, f.compat,
		fmt.Sprintf("--compat: includes %s bytes read with MSG_PEEK", engine.Thousands(f.peeked)),
		fmt.Sprintf("left out %s bytes read with MSG_PEEK; BCC counts them (--compat)", engine.Thousands(f.peeked)))
}
