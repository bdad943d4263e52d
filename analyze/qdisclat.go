package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/packets"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name: "qdisclat",
	Aliases: []string{"qdisc-fq --kind fq", "qdisc-cbq --kind cbq", "qdisc-cbs --kind cbs", "qdisc-codel --kind codel",
		"qdisc-fq_codel --kind fq_codel", "qdisc-red --kind red", "qdisc-tbf --kind tbf"},
	Group:    groupFull,
	Question: "how long do packets wait in queueing disciplines?",
	Help: `Microseconds from a packet's entry into a queueing discipline until it leaves for the
device, as a histogram per kind, or of one kind with --kind. A high row far from the
others is a queue that filled up, or a shaper at work.

A packet that is dropped or freed no longer waits; the next one at its address starts
anew. Segments that a discipline cuts out of a large packet (tbf) waited as long as that
packet. Packets that leave together are all counted if dev_start_xmit was recorded.
--queues lists every queue with its packets, drops, longest length and waits. As in tc,
DROPS includes drops of the disciplines inside a queue; segments count one by one.
--path is the time from the device's entry to its driver, all queues together, by device
and by keys that do not belong to a queue.

Packets that the kernel sends past an empty queue never enter it. --compat does what the
original scripts do: it keeps the start of a packet until its address leaves a queue,
whatever happened in between, and knows no segments.`,
	Example: "qdisclat --kind fq_codel --by dev",
	Options: []engine.Option{
		{Name: "kind", Kind: engine.Text, Doc: "only this kind of discipline: fq, fq_codel, htb, netem …"},
		{Name: "dev", Kind: engine.Text, Doc: "only this device"},
		engine.By("kind", append([]string{"dev", "qdisc", "cpu"}, engine.SocketKeys...)...),
		{Name: "queues", Kind: engine.Flag, Doc: "also every queue: packets, drops, longest queue, waits"},
		{Name: "path", Kind: engine.Flag, Doc: "also the time from the device's entry to its driver"},
		engine.Compat("ignore drops and segments"),
	},
	New: newQdisclat,
})

type qdisclat struct {
	us        *shape.Map[engine.Key, agg.Log2]
	path      *shape.Map[shape.AndText, agg.Log2]
	keys      *engine.Keys
	wayKeys   *engine.Keys // of the whole path, which is no queue's
	queues    *queues
	kind, dev string
	compat    bool

	stays    agg.Stays
	way      agg.Spans[uint64] // since dev_queue
	original agg.Spans[originalStart]
	entry    agg.Pending[uint64, packets.Device] // since dev_queue, too: which device
	given    map[int64]packets.Device            // by CPU: the device of its newest dev_queue
	refusals map[packets.Device]int64            // drops of packets that are in no queue
	told     agg.Pending[uint64, bool]           // packets whose drop is counted already

	right, others, same      int64 // waits by the right rule, by the original's, by both
	unseen, hidden, homeless int64
	whole                    bool // segments are seen when they are cut

	Skb, Qdisc, Packets, ParentSkb, Ok, Cpu scan.Int
	QdiscKind, Dev, DeriveKind, DropReason  scan.Str
}

// originalStart is what the scripts key a start by: each watches one kind.
type originalStart struct {
	skb  uint64
	kind string
}

func newQdisclat(in *engine.Input) engine.Fold {
	f := &qdisclat{given: map[int64]packets.Device{}, refusals: map[packets.Device]int64{}, whole: in.Recorded("skb_derive"), kind: in.Text("kind"), dev: in.Text("dev"), compat: in.Flag("compat"), queues: newQueues(in)}
	in.Bind(f)
	f.keys = in.Keys(f.queues.keys(f.kind == ""))
	f.us = shape.Hist(in, "us", "us", f.keys.Fields...)
	packets.OnLost(in, func() {
		f.stays.GoneAll()
		f.way.Clear()
		f.entry.Clear()
		f.original.Clear()
	})
	in.On("qdisc_enq", f.enqueue)
	in.On("qdisc_deq", f.dequeue)
	packets.OnEnd(in, "packets that were dropped or freed seem to wait until their address is used again", f.gone)
	in.Use("qdisc_drop", "", f.dropped)
	in.Use("skb_derive", "segments that a discipline cut out of a packet have no start", f.derived)
	without := ""
	if in.Flag("queues") {
		without = "drops of packets that a discipline did not take are missing from its DROPS"
	}
	if in.Flag("path") {
		without = "there is no time from the device's entry"
	}
	in.Use("dev_queue", without, f.give)
	in.Use("dev_start_xmit", "of packets that leave together only the first is measured", f.started)
	if in.Flag("path") {
		f.wayKeys = in.Keys(map[string]engine.KeyDef{"kind": nil, "qdisc": nil, "dev": nil})
		f.path = shape.Hist(in, "path_us", "us", shape.AndTextFields(f.wayKeys, "dev")...)
		return shape.Also(f.path, f.us, f)
	}
	return shape.Also(f.us, f)
}

// Finish lists the queues and tells the rules apart.
func (f *qdisclat) Finish(a *render.Answer) {
	f.place()
	f.queues.Finish(a)
	if f.unseen > 0 {
		why := " left a queue without a recorded entry: requeued, or entered before the recording"
		if !f.whole {
			why = " left a queue without a recorded entry: segments of larger packets, requeued, or entered before the recording"
		}
		a.Note(engine.Plural(f.unseen, "packet", "packets") + why)
	}
	if f.homeless > 0 {
		a.Note(engine.Plural(f.homeless, "packet", "packets") + " not in DROPS of any queue: dropped by a discipline that has no other rows")
	}
	if f.hidden > 0 {
		a.Note(engine.Plural(f.hidden, "packet", "packets") + " not counted: left a queue together with another packet, without an event")
	}
	if f.same != f.right || f.same != f.others {
		a.Note(fmt.Sprintf("%s; the original (--compat), which ignores drops and segments, gives %s, %s of them the same",
			engine.Plural(f.right, "sample", "samples"), engine.Thousands(f.others), engine.Thousands(f.same)))
	}
}
