package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/packets"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// queue is a queueing discipline at work.
type queue struct {
	kind, dev          string
	handle, parent     int64
	handleOf, parentOf string // as tc has them: 8001:, root, 1:10
	netns              int64

	in, out, drops, longest, backlog int64
	waits                            agg.Stats // us
	together, left                   int64     // packets that left at that time behind another
}

// queues are the disciplines by address. One that another kind or handle has taken over
// is another queue.
type queues struct {
	t       *render.List[queue] // nil if they are not listed
	byAddr  map[uint64]*queue
	roots   map[packets.Device]*queue // the outermost of each device, or of one of its queues
	all     []*queue
	now     *queue // of the row at hand
	names   agg.Intern
	nothing queue // all beyond the bound

	Qdisc, QdiscHandle, QdiscParent, Netns, Qlen, BacklogBytes scan.Int
	QdiscKind, Dev                                             scan.Str
}

func newQueues(in *engine.Input) *queues {
	f := &queues{byAddr: map[uint64]*queue{}, roots: map[packets.Device]*queue{}}
	in.Bind(f)
	f.now = &f.nothing
	if in.Flag("queues") {
		f.t = render.ListOf(in.Table, render.Spec{Name: "queues"}, f.fields()...)
	}
	return f
}

func (f *queues) fields() []render.Field[queue] {
	return []render.Field[queue]{
		render.Text("kind", func(q *queue) string { return q.kind }).Text("KIND", -10),
		render.Text("dev", func(q *queue) string { return q.dev }).Text("DEV", -15),
		render.Text("handle", func(q *queue) string { return q.handleOf }).Text("HANDLE", -7),
		render.Text("parent", func(q *queue) string { return q.parentOf }).Text("PARENT", -9),
		render.Num("enqueued", func(q *queue) int64 { return q.in }).Text("ENQUEUED", 10),
		render.NumOr("waited", func(q *queue) (int64, bool) { return q.waits.Count, !f.silent(q) }).Text("WAITED", 10),
		render.Num("drops", func(q *queue) int64 { return q.drops }).Text("DROPS", 8),
		render.Num("longest_packets", func(q *queue) int64 { return q.longest }).Text("QLEN_MAX", 8).In("packets"),
		render.Num("longest_bytes", func(q *queue) int64 { return q.backlog }).Text("BACKLOG_MAX", 11).In("bytes"),
		render.NumOr("average_us", func(q *queue) (int64, bool) { return q.waits.Average(), q.waits.Count > 0 }).Text("AVG_us", 8).In("us"),
		render.NumOr("max_us", func(q *queue) (int64, bool) { return q.waits.Max, q.waits.Count > 0 }).Text("MAX_us", 8).In("us"),
		render.Num("netns", func(q *queue) int64 { return q.netns }),
	}
}

// keys are the keys that go by the queue of a row. The kind is one only where there
// are several.
func (f *queues) keys(kinds bool) map[string]engine.KeyDef {
	kind := render.TextOr("kind", func(*engine.Row) string { return f.now.kind })
	keys := map[string]engine.KeyDef{"kind": nil, "qdisc": {render.TextOr("dev", func(*engine.Row) string { return f.now.dev }), kind,
		render.Text("handle", func(*engine.Row) string { return f.now.handleOf }), render.Text("parent", func(*engine.Row) string { return f.now.parentOf })}}
	if kinds {
		keys["kind"] = engine.KeyDef{kind}
	}
	return keys
}

// of is the queue of a row that names one.
func (f *queues) of(r *engine.Row) *queue {
	q := f.byAddr[r.Uint(f.Qdisc)]
	if q == nil || q.handle != r.Int(f.QdiscHandle) || q.parent != r.Int(f.QdiscParent) || q.kind != r.Str(f.QdiscKind) || q.dev != r.Str(f.Dev) {
		q = f.add(r)
	}
	q.longest, q.backlog = max(q.longest, r.Int(f.Qlen)), max(q.backlog, r.Int(f.BacklogBytes))
	f.now = q
	return q
}

func (f *queues) add(r *engine.Row) *queue {
	if len(f.all) >= agg.MaxKeys {
		return &f.nothing
	}
	q := &queue{kind: f.names.Get(r.Str(f.QdiscKind)), dev: f.names.Get(r.Str(f.Dev)), handle: r.Int(f.QdiscHandle), parent: r.Int(f.QdiscParent), netns: r.Int(f.Netns)}
	q.handleOf, q.parentOf = tcHandle(q.handle), tcHandle(q.parent)
	f.all, f.byAddr[r.Uint(f.Qdisc)] = append(f.all, q), q
	at := packets.Device{Netns: q.netns, Name: q.dev}
	if root := f.roots[at]; root == nil || q.parent == rootParent {
		f.roots[at] = q
	}
	return q
}

// rootParent is where a discipline is attached that is a device's.
const rootParent = 0xffffffff

// tcHandle is a handle or class as tc writes it.
func tcHandle(h int64) string {
	switch major, minor := h>>16, h&0xffff; {
	case h == rootParent:
		return "root"
	case minor == 0:
		return fmt.Sprintf("%x:", major)
	default:
		return fmt.Sprintf("%x:%x", major, minor)
	}
}

// at is the queue at an address, which becomes that of the row at hand.
func (f *queues) at(addr uint64) *queue {
	q := f.byAddr[addr]
	if q != nil {
		f.now = q
	}
	return q
}

// silent reports an inner discipline of which no row shows what leaves: the kernel has no
// function for it that could be hooked. What passed it did leave the one around it.
func (f *queues) silent(q *queue) bool {
	if q.out > 0 || q.in <= q.drops || q.parent == rootParent {
		return false
	}
	root := f.roots[packets.Device{Netns: q.netns, Name: q.dev}]
	return root != nil && root != q && root.out > 0
}

// Finish lists the queues, the busiest first.
func (f *queues) Finish(a *render.Answer) {
	for _, q := range f.all {
		if f.silent(q) {
			a.Note(fmt.Sprintf("waits in %s at %s of %s are unknown: no hook sees packets leave it; the waits of the discipline around it include them",
				q.kind, q.parentOf, q.dev))
		}
	}
	if f.t == nil {
		return
	}
	slices.SortStableFunc(f.all, func(a, b *queue) int { return cmp.Compare(b.in, a.in) })
	for _, q := range f.all {
		f.t.Add(q)
	}
}
