package findings

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

var synBacklog = Rule{
	Name: "syn-backlog", Default: 1, Unit: Count, Any: []string{"tcp_syn_arrive", "tcp_syn_recv"}, Counters: []string{"TcpExtListenOverflows"},
	About:    "SYNs and final ACKs of handshakes that find a listener's queue full",
	Explains: []string{"accept-wait", "loss", "slow-connects", "resets"},
	New:      newSynBacklog,
}

// listener is the key of a listening socket.
type listener struct {
	addr uint64
	port int64
}

func (l listener) compare(m listener) int {
	return cmp.Or(cmp.Compare(l.port, m.port), cmp.Compare(l.addr, m.addr))
}

// overflow is what a listener had no room for.
type overflow struct {
	local        string
	syns, ends   int64
	most, limit  int64
	first, tried int64
}

func newSynBacklog(in *engine.Input, limit float64, found *Shelf) func() {
	var all agg.Keyed[listener, overflow]
	queued, room := in.Int("sk_ack_backlog"), in.Int("sk_max_ack_backlog")
	laddr, lport, sock, of := in.Str("laddr"), in.Int("lport"), in.Int("sock"), in.Int("listener")
	look := func(r *engine.Row, addr uint64, end bool) {
		o := all.At(listener{addr, r.Int(lport)})
		if o == nil {
			return
		}
		n, most := r.Int(queued), r.Int(room)
		if o.tried++; n <= most {
			return
		}
		if o.first == 0 {
			o.first, o.local = r.TS, render.Endpoint(r.Str(laddr), r.Int(lport))
		}
		if end {
			o.ends++
		} else {
			o.syns++
		}
		o.most, o.limit = max(o.most, n), most
	}
	in.Use("tcp_syn_arrive", "", func(r *engine.Row) { look(r, r.Uint(sock), false) })
	in.Use("tcp_syn_recv", "", func(r *engine.Row) { look(r, r.Uint(of), true) })
	return func() {
		if !in.Recorded("tcp_syn_arrive") && !in.Recorded("tcp_syn_recv") {
			countedOverflows(in, limit, found)
		}
		for _, k := range all.Sorted(func(o *overflow) int64 { return -o.syns - o.ends }, listener.compare) {
			o := all.At(k)
			n := o.syns + o.ends
			if n == 0 || float64(n) < limit {
				return
			}
			found.Add(Finding{Level: Bad, Over: float64(n) / limit, At: o.first, Port: k.port,
				What: fmt.Sprintf("the listener at %s refused %s: its accept queue was full", o.local, many(n, "handshake", "handshakes")),
				Evidence: fmt.Sprintf("%s and %s of %s dropped, first at %s; up to %d in the queue, limit %d", many(o.syns, "SYN", "SYNs"), many(o.ends, "final ACK", "final ACKs"),
					engine.Thousands(o.tried), at(in, o.first), o.most, o.limit),
				Next: fmt.Sprintf("tcpsynbl --port %d", k.port)})
		}
	}
}

// fullQueues are counters of handshakes that a listener had no room for, with what each says.
var fullQueues = []struct{ counter, what, which string }{
	{"TcpExtListenOverflows", "refused %s: the accept queue was full", "ListenOverflows"},
	{"TcpExtTCPReqQFullDrop", "dropped %s: the queue of SYNs was full", "TCPReqQFullDrop"},
	{"TcpExtTCPReqQFullDoCookies", "answered %s with SYN cookies: the queue of SYNs was full", "TCPReqQFullDoCookies"},
}

// countedOverflows judges by the kernel's counters, where no hook shows the listeners.
func countedOverflows(in *engine.Input, limit float64, found *Shelf) {
	for _, q := range fullQueues {
		if n := grown(in, q.counter); n > 0 && float64(n) >= limit {
			found.Add(Finding{Level: Bad, Over: float64(n) / limit, What: "a listener " + fmt.Sprintf(q.what, many(n, "handshake", "handshakes")),
				Evidence: "by the kernel's counter " + q.which + ": this recording does not show which listener", Next: "soaccept"})
		}
	}
}
