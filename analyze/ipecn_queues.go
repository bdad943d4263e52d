package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/packets"
	"netrec/analyze/scan"
)

// ecnQueues knows the disciplines that packets are in, since a mark is set by the one that
// was there at the time, and the list of the start may have another.
type ecnQueues struct {
	packets agg.Pending[uint64, ecnQueued]
	devices map[packets.Device]string // kind of the discipline that was last given a packet there
	names   agg.Intern

	Skb, Netns     scan.Int
	Dev, QdiscKind scan.Str
}

// ecnQueued is the innermost discipline of a packet that may have marked it.
type ecnQueued struct {
	dev  packets.Device
	kind string
	left bool
}

func newEcnQueues(in *engine.Input) *ecnQueues {
	f := &ecnQueues{devices: map[packets.Device]string{}}
	in.Bind(f)
	in.Context("qdisc_enq", "the discipline that marked is that of the start", f.enter)
	in.Context("qdisc_deq", "", f.leave)
	return f
}

// neverMarks are the kinds that give packets away as they got them.
var neverMarks = map[string]bool{"": true, "noqueue": true, "mq": true, "pfifo": true, "bfifo": true, "pfifo_fast": true, "pfifo_head_drop": true}

func (f *ecnQueues) enter(r *engine.Row) {
	q := ecnQueued{dev: packets.Device{Netns: r.Int(f.Netns), Name: f.names.Get(r.Str(f.Dev))}, kind: f.names.Get(r.Str(f.QdiscKind))}
	if before, in := f.packets.Open(r.Uint(f.Skb)); in && !before.left && before.dev == q.dev && neverMarks[q.kind] {
		return // the discipline around it does more
	}
	f.packets.Begin(r.Uint(f.Skb), q)
	if len(f.devices) < agg.MaxFlows && !neverMarks[q.kind] {
		f.devices[q.dev] = q.kind
	}
}

func (f *ecnQueues) leave(r *engine.Row) {
	if q, in := f.packets.Open(r.Uint(f.Skb)); in && !q.left {
		q.left = true
		f.packets.Begin(r.Uint(f.Skb), q)
	}
}

// of is the kind of the discipline that the packet of a row behind it was in, else the one
// that was last at work at the device, "" if neither was seen.
func (f *ecnQueues) of(r *engine.Row) string {
	dev := packets.Device{Netns: r.Int(f.Netns), Name: r.Str(f.Dev)}
	if q, in := f.packets.End(r.Uint(f.Skb)); in && q.dev == dev && !neverMarks[q.kind] {
		return q.kind
	}
	return f.devices[dev] // of segments that were cut out of a packet in the queue
}
