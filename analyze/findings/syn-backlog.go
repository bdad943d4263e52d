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
	Explains: []string{"accept-wait", "loss", "slow-connects", "failed-connects", "slow-answers", "stalled-answers"},
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
	var ports agg.Top[int64]
	in.Use("tcp_synack_retrans", "", func(r *engine.Row) { ports.Add(r.Int(lport), 1) })
	return func() {
		countedOverflows(in, limit, &ports, found)
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

// countedOverflows judges by the kernel's counters, where no hook shows the listeners. The port is that
// of most SYN-ACKs that were retransmitted, since a listener without room does not take the answer.
func countedOverflows(in *engine.Input, limit float64, ports *agg.Top[int64], found *Shelf) {
	full, all := grown(in, "TcpExtListenOverflows"), grown(in, "TcpExtListenDrops")+grown(in, "TcpExtTCPReqQFullDrop")
	add := func(n int64, what, counter string) {
		if n <= 0 || float64(n) < limit {
			return
		}
		v := Finding{Level: Bad, Over: float64(n) / limit, Next: "skbdrop", What: "a listener " + fmt.Sprintf(what, many(n, "handshake", "handshakes")),
			Evidence: byCounter(in, counter) + ": this recording does not show which listener"}
		for _, e := range ports.Best(1, cmp.Compare[int64]) {
			v.Port = e.Key
			v.Evidence += fmt.Sprintf("; port %d retransmitted most SYN-ACKs, %s", e.Key, engine.Thousands(e.Count))
		}
		found.Add(v)
	}
	if !in.Recorded("tcp_syn_arrive") && !in.Recorded("tcp_syn_recv") {
		add(full, "refused %s: its accept queue was full", "ListenOverflows")
	}
	add(all-full, "dropped %s: its queue of SYNs was full", "ListenDrops")
	add(grown(in, "TcpExtTCPReqQFullDoCookies"), "answered %s with SYN cookies: its queue of SYNs was full", "TCPReqQFullDoCookies")
}
