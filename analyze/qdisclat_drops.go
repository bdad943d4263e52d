package analyze

import (
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

// gone ends the wait of a packet that will never leave. A drop is one of every discipline
// that the packet is in, as tc counts them.
func (f *qdisclat) gone(r *engine.Row, dropped bool) {
	skb := r.Uint(f.Skb)
	if _, told := f.told.End(skb); dropped && !told && !f.drop(skb) && strings.HasPrefix(r.Str(f.DropReason), "QDISC_") {
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
	at, ok := f.entry.End(r.Uint(f.Skb))
	if !ok {
		at, ok = f.given[r.Int(f.Cpu)]
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

// dropped is the end of a wait by a discipline that says so itself, before the packet is
// freed. It may be one that the packet never got into.
func (f *qdisclat) dropped(r *engine.Row) {
	skb := r.Uint(f.Skb)
	q := (*queue)(nil)
	if f.wants(r) {
		q = f.queues.of(r)
	}
	inside := false
	for place := range f.stays.Places(skb) {
		inside = inside || place == r.Uint(f.Qdisc)
	}
	f.drop(skb)
	if q != nil && !inside {
		q.drops++
	}
	f.told.Begin(skb, true)
	f.over(skb)
}
