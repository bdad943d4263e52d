package analyze

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "sockstat",
	Group:    groupMuch,
	Question: "how many socket calls of each kind are made per second?",
	Help: `One block per interval: the time at its start, and how often each function was called:
accept, connect, bind, socket and relatives, then the kernel functions through which
sockets send and receive. Intervals without calls are left out; the last one can be
shorter. Failed calls count.

The original prints the time at the end of an interval. On current kernels its hook for
sending misses sends by programs: --compat leaves sends out.`,
	Example: "sockstat --interval 10 --by probe,comm",
	Options: []engine.Option{
		{Name: "interval", Short: "i", Kind: engine.Number, Default: "1", Doc: "seconds"},
		engine.By("probe", append([]string{"tid", "cpu"}, engine.SocketKeys...)...), calls.SendCompat,
	},
	New: newSockstat,
})

type sockstat struct {
	in     *engine.Input
	t      *render.List[shape.Entry[engine.Key, int64]]
	keys   *engine.Keys
	step   int64
	since  int64 // beginning of the interval, 0 before the first
	counts map[engine.Key]int64
	probes map[string]string // of system calls, by their names
	sends  *calls.Sends

	Func, Dir scan.Str
}

func newSockstat(in *engine.Input) engine.Fold {
	f := &sockstat{in: in, step: int64(max(in.Number("interval"), 1)) * 1e9, counts: map[engine.Key]int64{}, probes: map[string]string{}}
	in.Bind(f)
	f.keys = in.Keys(map[string]engine.KeyDef{"probe": {render.Text("probe", f.probe)}})
	time := render.Num("time", func(*shape.Entry[engine.Key, int64]) int64 { return in.Local(f.since) }).As(render.Clock)
	f.t = render.ListOf(in.Table, render.Spec{Name: "calls", Unnamed: true, Look: render.MapCount, Sections: true, Keys: 1 + len(f.keys.Fields)},
		append([]render.Field[shape.Entry[engine.Key, int64]]{time}, shape.EntryFields(f.keys.Fields,
			render.Num("count", func(n *int64) int64 { return *n }),
			render.Num("since_ns", func(*int64) int64 { return f.since }).In("ns"))...)...)
	f.sends = calls.NewSends(in)
	in.On("sock_io", func(r *engine.Row) {
		if f.sends.Counted(r) {
			f.count(r)
		}
	})
	for _, event := range []string{"sys_accept", "sys_bind", "sys_connect", "sys_socket"} {
		in.Use(event, "its calls are not counted", f.count)
	}
	return f
}

// probe is the hook by which the original would have counted the call.
func (f *sockstat) probe(r *engine.Row) string {
	switch {
	case r.Event.Name != "sock_io":
	case r.Str(f.Dir) == "send":
		return "kprobe:sock_sendmsg"
	default:
		return "kprobe:sock_recvmsg"
	}
	call := cmp.Or(r.Str(f.Func), strings.TrimPrefix(r.Event.Name, "sys_"))
	p, ok := f.probes[call]
	if !ok {
		p = "tracepoint:syscalls:sys_enter_" + call
		if len(f.probes) < 64 {
			f.probes[strings.Clone(call)] = p
		}
	}
	return p
}

func (f *sockstat) count(r *engine.Row) {
	if at := f.in.Start() + (r.TS-f.in.Start())/f.step*f.step; at != f.since {
		f.show()
		f.since = at
	}
	f.counts[f.keys.Of(r)] += f.in.Weigh(1)
}

// show writes the interval, rarest first.
func (f *sockstat) show() {
	for _, k := range slices.SortedFunc(maps.Keys(f.counts), func(a, b engine.Key) int {
		return cmp.Or(cmp.Compare(f.counts[a], f.counts[b]), a.Compare(b))
	}) {
		n := f.counts[k]
		f.t.Line(shape.Entry[engine.Key, int64]{Key: k, Value: &n})
	}
	clear(f.counts)
	f.keys.Forget()
}

// Finish writes the last interval and tells the rules apart.
func (f *sockstat) Finish(a *render.Answer) {
	f.show()
	f.sends.Finish(a)
}
