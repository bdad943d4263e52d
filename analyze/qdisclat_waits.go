package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/packets"
	"netrec/analyze/shape"
)

func (f *qdisclat) wants(r *engine.Row) bool {
	return (f.kind == "" || r.Str(f.QdiscKind) == f.kind) && (f.dev == "" || r.Str(f.Dev) == f.dev)
}

func (f *qdisclat) enqueue(r *engine.Row) {
	if f.wants(r) {
		f.stays.Begin(r.Uint(f.Skb), r.Uint(f.Qdisc), r.TS)
		f.original.Begin(originalStart{r.Uint(f.Skb), r.Str(f.QdiscKind)}, r.TS)
		f.queues.of(r).in++
	}
}

func (f *qdisclat) dequeue(r *engine.Row) {
	if !f.wants(r) {
		return
	}
	old, had := f.original.End(originalStart{r.Uint(f.Skb), r.Str(f.QdiscKind)})
	began, ok := f.stays.End(r.Uint(f.Skb), r.Uint(f.Qdisc))
	if had {
		f.others++
	}
	if had && ok && old == began {
		f.same++
	}
	q := f.queues.of(r)
	q.out++
	if n := r.Int(f.Packets); n > 1 {
		q.together, q.left = r.TS, n-1
		f.hidden += n - 1
	}
	if ok {
		f.wait(r, q, r.TS-began)
	} else {
		f.unseen++
	}
	if f.compat && had {
		f.us.Add(f.keys.Of(r), (r.TS-old)/1000)
	}
}

// wait counts the time that a packet was in a queue.
func (f *qdisclat) wait(r *engine.Row, q *queue, ns int64) {
	f.right++
	q.waits.Add(ns / 1000)
	if !f.compat {
		f.us.Add(f.keys.Of(r), ns/1000)
	}
}

// started ends the wait of packets that left a discipline behind another, and the way
// through the device's queues.
func (f *qdisclat) started(r *engine.Row) {
	skb := r.Uint(f.Skb)
	for place, ok := f.stays.Last(skb); ok; place, ok = f.stays.Last(skb) {
		began, _ := f.stays.End(skb, place)
		if q := f.queues.at(place); q != nil && q.left > 0 && q.together >= began {
			q.left--
			f.hidden--
			f.wait(r, q, q.together-began)
		}
	}
	f.entry.End(skb)
	if f.path != nil && (f.dev == "" || r.Str(f.Dev) == f.dev) {
		if began, ok := f.way.End(skb); ok {
			f.path.Add(shape.AndText{Key: f.wayKeys.Of(r), Text: r.Str(f.Dev)}, (r.TS-began)/1000)
		}
	}
}

// give notes the device that a packet is given to. It is in no queue yet: the tracepoint
// tells that a packet was taken when one that was cut into segments is freed already.
func (f *qdisclat) give(r *engine.Row) {
	f.stays.Gone(r.Uint(f.Skb))
	at := packets.Device{Netns: r.Int(f.queues.Netns), Name: f.queues.names.Get(r.Str(f.Dev))}
	f.entry.Begin(r.Uint(f.Skb), at)
	f.given[r.Int(f.Cpu)] = at
	if f.path != nil {
		f.way.Begin(r.Uint(f.Skb), r.TS)
	}
}

func (f *qdisclat) derived(r *engine.Row) {
	if r.Str(f.DeriveKind) == "segment" && r.Int(f.Ok) != 0 {
		f.stays.Inherit(r.Uint(f.ParentSkb), r.Uint(f.Skb))
		f.told.Begin(r.Uint(f.ParentSkb), true) // what is left of it is freed as if it were dropped, if no segment was taken
	}
}
