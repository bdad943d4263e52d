package analyze

import (
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "tcpsynbl",
	Group:    groupFull,
	Question: "how long is the backlog of listening sockets against its limit, and are SYNs being dropped?",
	Main:     []string{"backlog"},
	Help: `@backlog is the length of a listener's accept queue at the end of each handshake, by
listener and limit. Above it is one line for each SYN, or last packet of a handshake, that
found the queue full: the client has to retransmit it. The table below shows per listener:
SYNs, the longest queue of handshakes and of connections, drops at each, SYNs that clients
retransmitted (SYN+), and SYN-ACKs that this host retransmitted (SYNACK+).
The original mixes all listeners with the same limit, looks only at the end of a handshake,
and counts an IPv4 client of an IPv6 listener twice; --compat does the same.
SYNs that are dropped on their way to the listener are not seen.`,
	Example: "tcpsynbl --port 80",
	Options: []engine.Option{engine.By("listener,limit", "comm", "pid", "host", "netns", "cpu"), engine.Compat("by limit only, IPv4 clients of IPv6 listeners counted twice")},
	New:     newTcpsynbl,
})

type tcpsynbl struct {
	in      *engine.Input
	drops   *render.List[synDrop]
	keys    *engine.Keys
	backlog *shape.Map[engine.Key, agg.Log2]
	queues  *listeners
	compat  bool
	all     int64
	twice   int64 // handshakes that the original counts twice

	SkAckBacklog, SkMaxAckBacklog, ReqQueueLen scan.Int
	Func                                       scan.Str
}

func newTcpsynbl(in *engine.Input) engine.Fold {
	f := &tcpsynbl{in: in, compat: in.Flag("compat")}
	in.Bind(f)
	in.Sockets("")
	f.queues = newListeners(in)
	own := map[string]engine.KeyDef{
		"listener": {render.Text("listener", func(r *engine.Row) string { return f.queues.of(r, nil).end() })},
		"comm":     {render.TextOr("comm", func(r *engine.Row) string { return f.queues.of(r, nil).who.Comm })},
		"pid": {render.NumOr("pid", func(r *engine.Row) (int64, bool) {
			pid := f.queues.of(r, nil).who.Pid
			return pid, pid > 0
		})},
		"limit": {render.Num("limit", func(r *engine.Row) int64 { return r.Int(f.SkMaxAckBacklog) })}}
	if f.compat {
		own["listener"] = nil
	}
	f.keys = in.Keys(own)
	in.On("tcp_syn_recv", f.handshake)
	if !f.compat {
		in.Use("tcp_syn_arrive", "SYNs that found the queue full are not seen", f.syn)
		in.Use("tcp_synack_retrans", "SYN-ACKs sent again are not counted", func(r *engine.Row) { f.queues.of(r, r.Sock).synacks++ })
	}
	f.drops = render.ListOf(in.Table, render.Spec{Name: "drops", Look: render.Lines}, f.dropFields()...)
	f.backlog = shape.Hist(in, "backlog", "connections", f.keys.Fields...)
	return f
}

// handshake is the last packet of one: the listener makes the connection's socket.
func (f *tcpsynbl) handshake(r *engine.Row) {
	q := f.queues.of(r, nil)
	n, limit := r.Int(f.SkAckBacklog), r.Int(f.SkMaxAckBacklog)
	key := f.keys.Of(r)
	f.all++
	f.backlog.Add(key, n)
	// The IPv6 function hands clients that speak IPv4 on to the IPv4 one.
	if r.Str(f.Func) == "tcp_v6_syn_recv_sock" && line.IPVersion(r.Str(f.queues.Raddr)) == 4 {
		if f.twice++; f.compat {
			f.backlog.Add(key, n)
		}
	}
	f.queues.finished(r, q)
	if q.longest = max(q.longest, n); n > limit {
		q.lateDrops++
		f.drop(r, q, "dropping the end of a handshake.", n, limit)
	}
}

// syn is the first packet of a handshake.
func (f *tcpsynbl) syn(r *engine.Row) {
	q := f.queues.of(r, r.Sock)
	n, limit := r.Int(f.SkAckBacklog), r.Int(f.SkMaxAckBacklog)
	f.queues.arrived(r, q)
	q.requests, q.longest = max(q.requests, r.Int(f.ReqQueueLen)), max(q.longest, n)
	if n > limit {
		q.synDrops++
		f.drop(r, q, "dropping a SYN.", n, limit)
	}
}

// synDrop is a packet of a handshake that found the queue full.
type synDrop struct {
	ts       int64
	what     string
	q        *listenQueue
	n, limit int64
}

func (f *tcpsynbl) dropFields() []render.Field[synDrop] {
	ts := func(d *synDrop) int64 { return d.ts }
	fs := []render.Field[synDrop]{line.TimeOfDay(f.in, ts), render.Text("what", func(d *synDrop) string { return d.what }).Text("WHAT", 0)}
	if !f.compat {
		fs = append(fs, render.Text("listener", func(d *synDrop) string { return d.q.end() }).Text("LISTENER", 0),
			render.Num("backlog", func(d *synDrop) int64 { return d.n }), render.Num("limit", func(d *synDrop) int64 { return d.limit }))
	}
	return append(fs, render.Num("ts_ns", ts).In("ns"))
}

func (f *tcpsynbl) drop(r *engine.Row, q *listenQueue, what string, n, limit int64) {
	if f.compat {
		what = "dropping a SYN."
	}
	f.drops.Line(synDrop{r.TS, what, q, n, limit})
}

// Finish writes histograms and listeners, and tells the rules apart.
func (f *tcpsynbl) Finish(a *render.Answer) {
	keys, what := "backlog limit", "backlog size"
	if !f.compat {
		f.queues.show()
		keys, what = strings.ReplaceAll(f.in.Text("by"), ",", ", "), "the accept queue's length"
	}
	f.backlog.Finish(a)
	if f.all > 0 {
		a.Note("@backlog[" + keys + "]: histogram of " + what)
	}
	shape.NoteRules(a, f.twice, f.compat,
		fmt.Sprintf("--compat: counts %s of IPv4 clients with IPv6 listeners twice", engine.Plural(f.twice, "handshake", "handshakes")),
		fmt.Sprintf("%s; the original (--compat) counts %s, because it counts IPv4 clients of IPv6 listeners twice", engine.Plural(f.all, "handshake", "handshakes"), engine.Thousands(f.all+f.twice)))
}
