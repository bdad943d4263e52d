package analyze

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "sockstat",
	Group:    groupMuch,
	Question: "how many socket calls of each kind are made per second?",
	Help: `For every interval the time at its beginning and how often each function was called:
accept, connect, bind, socket and their kin, then the kernel's functions through which
sockets send and receive. Intervals without any call are left out, and the last one may be
shorter. Failed calls count.

The original prints the time at the end of an interval; its hook for sending misses the
sends of programs on current kernels, this one does not.`,
	Example: "sockstat --interval 10",
	Options: []engine.Option{
		{Name: "interval", Short: "i", Kind: engine.Number, Default: "1", Doc: "seconds"},
	},
	New: newSockstat,
})

type sockstat struct {
	in     *engine.Input
	t      *render.Table
	step   int64
	since  int64 // beginning of the interval, 0 before the first
	counts map[sockCall]int64
	fn     scan.Col
	dir    scan.Col
}

// sockCall is the hook that counts and, where it is of several calls, which one.
type sockCall struct{ probe, fn string }

func newSockstat(in *engine.Input) engine.Fold {
	f := &sockstat{in: in, step: int64(max(in.Number("interval"), 1)) * 1e9, counts: map[sockCall]int64{}, fn: in.Str("func"), dir: in.Str("dir")}
	f.t = in.Table(render.Spec{Name: "calls", Unnamed: true, Look: render.MapCount, Sections: true, Keys: 2, Columns: []render.Column{
		render.Col("time", render.Clock), render.Col("probe", render.String), render.Col("count", render.Int), render.Col("since_ns", render.Int).In("ns")}})
	in.On("sock_io", func(r *engine.Row) {
		if r.Str(f.dir) == "send" {
			f.count(r, sockCall{probe: "kprobe:sock_sendmsg"})
		} else {
			f.count(r, sockCall{probe: "kprobe:sock_recvmsg"})
		}
	})
	for _, event := range []string{"sys_accept", "sys_bind", "sys_connect", "sys_socket"} {
		name := strings.TrimPrefix(event, "sys_")
		in.Use(event, "its calls are not counted", func(r *engine.Row) {
			fn := r.Str(f.fn)
			if fn == "" {
				fn = name
			}
			f.count(r, sockCall{"tracepoint:syscalls:sys_enter_", fn})
		})
	}
	return f
}

func (f *sockstat) count(r *engine.Row, c sockCall) {
	if at := f.in.Start() + (r.TS-f.in.Start())/f.step*f.step; at != f.since {
		f.show()
		f.since = at
	}
	f.counts[c]++
}

// show writes the interval, rarest first.
func (f *sockstat) show() {
	calls := slices.SortedFunc(maps.Keys(f.counts), func(a, b sockCall) int {
		return cmp.Or(cmp.Compare(f.counts[a], f.counts[b]), cmp.Compare(a.probe, b.probe), cmp.Compare(a.fn, b.fn))
	})
	for _, c := range calls {
		f.t.Int(f.in.Local(f.since)).Str(c.probe + c.fn).Int(f.counts[c]).Int(f.since).End()
	}
	clear(f.counts)
}

// Finish writes the last interval.
func (f *sockstat) Finish(*render.Answer) { f.show() }
