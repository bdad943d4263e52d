package analyze

import (
	"cmp"
	"slices"

	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// client is who does a handshake with a listener.
type client struct {
	listener listenerKey
	addr     string
	port     int64
}

// maxSynNS is how long after its first SYN a client gives up, with the kernel's usual
// number of tries; a later one from there begins another handshake.
const maxSynNS = 130e9

// client is the client that a row is about.
func (f *listeners) client(r *engine.Row, q *listenQueue) client {
	return client{listenerKey{q.addr, q.lport}, f.names.Get(r.Str(f.raddr)), r.Int(f.rport)}
}

// arrived counts a SYN. One that its client had sent before tells that it got no answer.
func (f *listeners) arrived(r *engine.Row, q *listenQueue) {
	q.syns++
	c := f.client(r, q)
	if first, ok := f.open.Open(c); ok && r.TS-first < maxSynNS {
		q.again++
		return
	}
	f.open.Begin(c, r.TS)
}

// finished counts the end of a handshake.
func (f *listeners) finished(r *engine.Row, q *listenQueue) {
	q.handshakes++
	f.open.End(f.client(r, q))
}

// show lists the listeners that had handshakes, by port.
func (f *listeners) show() {
	var all []*listenQueue
	for _, q := range f.m {
		if q.syns+q.handshakes+q.synacks > 0 {
			all = append(all, q)
		}
	}
	slices.SortFunc(all, func(a, b *listenQueue) int {
		return cmp.Or(cmp.Compare(a.lport, b.lport), cmp.Compare(a.laddr, b.laddr), cmp.Compare(a.addr, b.addr))
	})
	t := f.in.Table(render.Spec{Name: "listeners", Columns: []render.Column{render.Col("listener", render.String).Text("LISTENER", -22),
		render.Col("pid", render.Int).Text("PID", -7), render.Col("comm", render.String).Text("COMM", -15).Cut(), render.Col("limit", render.Int).Text("LIMIT", 6),
		render.Col("syns", render.Int).Text("SYNS", 8), render.Col("handshakes", render.Int).Text("DONE", 8),
		render.Col("synq_max", render.Int).Text("SYNQ", 6), render.Col("acceptq_max", render.Int).Text("ACCEPTQ", 7),
		render.Col("syn_drops", render.Int).Text("SYNDROP", 7), render.Col("late_drops", render.Int).Text("ACKDROP", 7),
		render.Col("syn_retransmits", render.Int).Text("SYN+", 6), render.Col("synack_retransmits", render.Int).Text("SYNACK+", 7), render.Col("sock", render.Addr)}})
	for _, q := range all {
		t.Str(q.end()).IntOr(q.who.Pid, q.who.Pid > 0).StrOr(q.who.Comm).Int(q.limit).Int(q.syns).Int(q.handshakes)
		t.Int(q.requests).Int(q.longest).Int(q.synDrops).Int(q.lateDrops).Int(q.again).Int(q.synacks).Uint(q.addr).End()
	}
}
