package analyze

import (
	"cmp"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

// listenQueue is what happened at the queues of one listening socket.
type listenQueue struct {
	addr  uint64
	laddr string
	lport int64
	who   shape.Process

	limit                     int64
	syns, handshakes, synacks int64
	again                     int64 // SYNs that came once more
	requests, longest         int64 // longest queues: of handshakes, of connections
	synDrops, lateDrops       int64
}

func (q *listenQueue) end() string {
	if q.laddr == "" {
		return line.EndOf("*", q.lport)
	}
	return render.Endpoint(q.laddr, q.lport)
}

// maxListeners bounds the listeners kept apart; those beyond it share an entry.
const maxListeners = 1 << 14

// listeners keeps the queues of listening sockets. Rows of the kernel's handshake are
// about a listener without being its own, so it is known by address and local port.
type listeners struct {
	in    *engine.Input
	m     map[listenerKey]*listenQueue
	open  agg.Spans[client] // handshakes that began
	names agg.Intern

	Listener, SkMaxAckBacklog, Lport, Rport scan.Int
	NewState, Laddr, Raddr                  scan.Str
}

type listenerKey struct {
	addr uint64
	port int64
}

func newListeners(in *engine.Input) *listeners {
	f := &listeners{in: in, m: map[listenerKey]*listenQueue{}}
	in.Bind(f)
	in.Use("tcp_state", "owners of listeners that began to listen are not known", func(r *engine.Row) {
		if r.Sock != nil && r.Str(f.NewState) == "LISTEN" {
			q := f.at(listenerKey{r.Sock.Addr, r.Sock.Lport})
			q.laddr, q.who = r.Sock.Laddr, shape.Process{Comm: r.Sock.Comm, Pid: r.Sock.Pid}
		}
	})
	return f
}

// of is the listener that a row is about: its own socket where it has one.
func (f *listeners) of(r *engine.Row, own *agg.Socket) *listenQueue {
	addr := r.Uint(f.Listener)
	if own != nil {
		addr = own.Addr
	}
	q := f.at(listenerKey{addr, r.Int(f.Lport)})
	if r.Has(f.SkMaxAckBacklog) {
		q.limit = r.Int(f.SkMaxAckBacklog)
	}
	if own != nil && q.who.Pid == 0 && own.Pid != 0 {
		q.laddr, q.who = own.Laddr, shape.Process{Comm: own.Comm, Pid: own.Pid}
	}
	if q.who.Pid == 0 {
		f.older(q)
	}
	return q
}

func (f *listeners) at(k listenerKey) *listenQueue {
	q := f.m[k]
	if q == nil {
		if len(f.m) >= maxListeners {
			k = listenerKey{}
		}
		if q = f.m[k]; q == nil {
			q = &listenQueue{addr: k.addr, lport: k.port}
			f.m[k] = q
		}
	}
	return q
}

// older looks a listener up among the sockets alive at the start, once.
func (f *listeners) older(q *listenQueue) {
	q.who.Pid = -1
	for i := range f.in.Meta.Sockets {
		s := &f.in.Meta.Sockets[i]
		if s.State == "LISTEN" && int64(s.Lport) == q.lport {
			if q.laddr = s.Laddr; len(s.Owners) > 0 {
				q.who = shape.Process{Comm: s.Owners[0].Comm, Pid: int64(s.Owners[0].Pid)}
			}
			return
		}
	}
}

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
	return client{listenerKey{q.addr, q.lport}, f.names.Get(r.Str(f.Raddr)), r.Int(f.Rport)}
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
		return cmp.Or(cmp.Compare(b.synDrops+b.lateDrops, a.synDrops+a.lateDrops), cmp.Compare(a.lport, b.lport), cmp.Compare(a.laddr, b.laddr), cmp.Compare(a.addr, b.addr))
	})
	t := render.ListOf(f.in.Table, render.Spec{Name: "listeners"}, listenerFields...)
	for _, q := range all {
		t.Add(q)
	}
}

var listenerFields = []render.Field[listenQueue]{
	render.Text("listener", (*listenQueue).end).Text("LISTENER", -22),
	render.NumOr("pid", func(q *listenQueue) (int64, bool) { return q.who.Pid, q.who.Pid > 0 }).Text("PID", -7),
	render.TextOr("comm", func(q *listenQueue) string { return q.who.Comm }).Text("COMM", -15).Cut(),
	render.Num("limit", func(q *listenQueue) int64 { return q.limit }).Text("LIMIT", 6),
	render.Num("syns", func(q *listenQueue) int64 { return q.syns }).Text("SYNS", 8),
	render.Num("handshakes", func(q *listenQueue) int64 { return q.handshakes }).Text("DONE", 8),
	render.Num("synq_max", func(q *listenQueue) int64 { return q.requests }).Text("SYNQ", 6),
	render.Num("acceptq_max", func(q *listenQueue) int64 { return q.longest }).Text("ACCEPTQ", 7),
	render.Num("syn_drops", func(q *listenQueue) int64 { return q.synDrops }).Text("SYNDROP", 7),
	render.Num("late_drops", func(q *listenQueue) int64 { return q.lateDrops }).Text("ACKDROP", 7),
	render.Num("syn_retransmits", func(q *listenQueue) int64 { return q.again }).Text("SYN+", 6),
	render.Num("synack_retransmits", func(q *listenQueue) int64 { return q.synacks }).Text("SYNACK+", 7),
	render.Address("sock", func(q *listenQueue) uint64 { return q.addr }),
}
