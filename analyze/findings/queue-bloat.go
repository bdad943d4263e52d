package findings

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var queueBloat = Rule{
	Name: "queue-bloat", Default: 20e6, Unit: Duration, Any: []string{"qdisc_deq"},
	About:    "time in a device's queue that one packet in ten exceeds (90th percentile)",
	Explains: []string{"slow-answers", "stalled-answers"},
	New:      newQueueBloat,
}

// bloatLeast is how many packets a queue must have had: a share of fewer says little.
const bloatLeast = 10

// queueOf is the key of a queue: a device and the kind of its discipline.
type queueOf struct{ dev, kind string }

func (q queueOf) compare(p queueOf) int {
	return cmp.Or(cmp.Compare(q.dev, p.dev), cmp.Compare(q.kind, p.kind))
}

// waits are those of the packets of a queue.
type waits struct {
	us        agg.Quantiles
	longest   int64
	at        int64
	most      int64 // packets in it
	mostBytes int64
}

// bloat follows packets through queues.
type bloat struct {
	stays  agg.Stays
	queues agg.Keyed[queueOf, waits]
	names  agg.Intern

	Skb, Qdisc, Qlen, BacklogBytes scan.Int
	QdiscKind, Dev                 scan.Str
}

func newQueueBloat(in *engine.Input, limit float64, found *Shelf) func() {
	f := &bloat{}
	in.Bind(f)
	in.Use("qdisc_enq", "", func(r *engine.Row) { f.stays.Begin(r.Uint(f.Skb), r.Uint(f.Qdisc), r.TS) })
	in.Use("qdisc_deq", "", f.left)
	gone := func(r *engine.Row) { f.stays.Gone(r.Uint(f.Skb)) }
	for _, e := range []string{"dev_queue", "skb_consume", "skb_free", "skb_drop", "qdisc_drop"} {
		in.Use(e, "", gone)
	}
	in.OnLoss([]string{"qdisc_enq", "qdisc_deq", "qdisc_drop", "dev_queue", "skb_consume", "skb_free", "skb_drop"}, f.stays.GoneAll) // the end of any wait may be among them
	return func() {
		for _, q := range f.queues.Sorted(func(w *waits) int64 { return -w.us.Count }, queueOf.compare) {
			w := f.queues.At(q)
			tenth := w.us.At(0.9) * 1000
			if w.us.Count < bloatLeast || float64(tenth) < limit {
				continue
			}
			found.Add(Finding{Level: Slow, Over: float64(tenth) / limit, At: w.at,
				What: fmt.Sprintf("packets wait in the queue of %s (%s): one in ten %s or longer", q.dev, q.kind, span(tenth)),
				Evidence: fmt.Sprintf("%s, half of them %s or longer, longest %s from %s; up to %s packets and %s bytes queued", many(w.us.Count, "packet", "packets"),
					span(w.us.At(0.5)*1000), span(w.longest), at(in, w.at), engine.Thousands(w.most), engine.Thousands(w.mostBytes)),
				Next: "qdisclat --queues --dev " + render.ShellWord(q.dev)})
		}
	}
}

func (f *bloat) left(r *engine.Row) {
	w := f.queues.At(queueOf{f.names.Get(r.Str(f.Dev)), f.names.Get(r.Str(f.QdiscKind))})
	began, ok := f.stays.End(r.Uint(f.Skb), r.Uint(f.Qdisc))
	if w == nil {
		return
	}
	w.most, w.mostBytes = max(w.most, r.Int(f.Qlen)), max(w.mostBytes, r.Int(f.BacklogBytes))
	if !ok {
		return
	}
	w.us.Add((r.TS - began) / 1000)
	if ns := r.TS - began; ns > w.longest {
		w.longest, w.at = ns, began
	}
}
