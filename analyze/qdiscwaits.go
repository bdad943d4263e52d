package analyze

import (
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

func (f *qdisclat) wants(r *engine.Row) bool {
	return (f.kind == "" || r.Str(f.kindOf) == f.kind) && (f.dev == "" || r.Str(f.devOf) == f.dev)
}

func (f *qdisclat) enqueue(r *engine.Row) {
	if f.wants(r) {
		f.stays.Begin(r.Uint(f.skb), r.Uint(f.qdisc), r.TS)
		f.original.Begin(originalStart{r.Uint(f.skb), r.Str(f.kindOf)}, r.TS)
		f.queues.of(r).in++
	}
}

func (f *qdisclat) dequeue(r *engine.Row) {
	if !f.wants(r) {
		return
	}
	old, had := f.original.End(originalStart{r.Uint(f.skb), r.Str(f.kindOf)})
	began, ok := f.stays.End(r.Uint(f.skb), r.Uint(f.qdisc))
	if had {
		f.others++
	}
	if had && ok && old == began {
		f.same++
	}
	q := f.queues.of(r)
	q.out++
	if n := r.Int(f.packets); n > 1 {
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
	skb := r.Uint(f.skb)
	for place, ok := f.stays.Last(skb); ok; place, ok = f.stays.Last(skb) {
		began, _ := f.stays.End(skb, place)
		if q := f.queues.at(place); q != nil && q.left > 0 && q.together >= began {
			q.left--
			f.hidden--
			f.wait(r, q, q.together-began)
		}
	}
	f.entry.End(skb)
	if f.path != nil && (f.dev == "" || r.Str(f.devOf) == f.dev) {
		if began, ok := f.way.End(skb); ok {
			f.path.Add(andText{f.wayKeys.Of(r), r.Str(f.devOf)}, (r.TS-began)/1000)
		}
	}
}

// gone ends the wait of a packet that will never leave. A drop is one of every discipline
// that the packet is in, as tc counts them.
func (f *qdisclat) gone(r *engine.Row, dropped bool) {
	skb := r.Uint(f.skb)
	if _, told := f.told.End(skb); dropped && !told && !f.drop(skb) && strings.HasPrefix(r.Str(f.reason), "QDISC_") {
		f.refused(r)
	}
	f.over(skb)
}

func (f *qdisclat) over(skb uint64) {
	f.stays.Gone(skb)
	f.way.End(skb)
	f.entry.End(skb)
}

// drop counts a drop for the disciplines that a packet is in; false if it is in none.
func (f *qdisclat) drop(skb uint64) bool {
	known := false
	for place := range f.stays.Places(skb) {
		if q := f.queues.at(place); q != nil {
			q.drops++
			known = true
		}
	}
	return known
}

// refused counts a drop by a discipline that no row shows the packet to be in: the tracepoint
// tells of packets that were taken only, and segments that were cut in between have other
// addresses. The device is the one that the packet was given to, else the one that this CPU
// has given the newest packet to: what a discipline refuses is dropped on the way back.
func (f *qdisclat) refused(r *engine.Row) {
	at, ok := f.entry.End(r.Uint(f.skb))
	if !ok {
		at, ok = f.given[r.Int(f.cpu)]
	}
	if !ok {
		f.homeless++
	} else if len(f.refusals) < agg.MaxKeys {
		f.refusals[at]++
	}
}

// place gives the drops of packets that were in no queue to the discipline of the device.
func (f *qdisclat) place() {
	for at, n := range f.refusals {
		if q := f.queues.roots[at]; q != nil && (f.kind == "" || q.parent == rootParent) {
			q.drops += n
		} else {
			f.homeless += n
		}
	}
	if f.kind != "" || f.dev != "" {
		f.homeless = 0 // those of others
	}
}

// give notes the device that a packet is given to. It is in no queue yet: the tracepoint
// tells that a packet was taken when one that was cut into segments is freed already.
func (f *qdisclat) give(r *engine.Row) {
	f.stays.Gone(r.Uint(f.skb))
	at := deviceOf{r.Int(f.queues.netns), f.queues.names.Get(r.Str(f.devOf))}
	f.entry.Begin(r.Uint(f.skb), at)
	f.given[r.Int(f.cpu)] = at
	if f.path != nil {
		f.way.Begin(r.Uint(f.skb), r.TS)
	}
}

// dropped is the end of a wait by a discipline that says so itself, before the packet is
// freed. It may be one that the packet never got into.
func (f *qdisclat) dropped(r *engine.Row) {
	skb := r.Uint(f.skb)
	q := (*queue)(nil)
	if f.wants(r) {
		q = f.queues.of(r)
	}
	inside := false
	for place := range f.stays.Places(skb) {
		inside = inside || place == r.Uint(f.qdisc)
	}
	f.drop(skb)
	if q != nil && !inside {
		q.drops++
	}
	f.told.Begin(skb, true)
	f.over(skb)
}

func (f *qdisclat) derived(r *engine.Row) {
	if r.Str(f.derive) == "segment" && r.Int(f.ok) != 0 {
		f.stays.Inherit(r.Uint(f.parent), r.Uint(f.skb))
		f.told.Begin(r.Uint(f.parent), true) // what is left of it is freed as if it were dropped, if no segment was taken
	}
}
