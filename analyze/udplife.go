package analyze

import (
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "udplife",
	Group:    groupLife,
	Question: "how long do UDP sockets talk to each peer, and how many bytes?",
	Help: `One line per connection of a UDP socket: from its connect until it connects elsewhere or
its last descriptor is closed (its memory may be freed later). TX_B and RX_B are the bytes
sent and received in that time. Connections that are only partly in the recording follow,
with the part that is. Last come flows of unconnected sockets: one per peer, from the first
to the last datagram; a new flow starts after --idle seconds of silence.
The original hooks only the functions for IPv4, so IPv6 has no bytes and no end. It counts
failed sends and reads with MSG_PEEK, and a second connect moves the start. --compat does
the same.
Datagrams of tunnels in the kernel (VXLAN, WireGuard) are not counted.`,
	Example: "udplife --port 53",
	Options: []engine.Option{{Name: "idle", Kind: engine.Number, Default: "30", Doc: "seconds of silence that end a flow of an unconnected socket"},
		engine.Compat("IPv4 only, sizes asked for, MSG_PEEK counted, a connect moves the start")},
	New: newUdplife,
})

// talk is what a UDP socket exchanges with one peer.
type talk struct {
	who            shape.Process
	laddr, raddr   string
	lport, rport   int64
	began, last    int64
	sent, received int64 // first datagram each way; 0 if none
	tx, rx, failed int64
	asked, read    int64 // bytes as the original counts them
	connected      bool
	older          bool // began before the recording
	again          bool // the socket had been connected before
	sock           agg.Socket
}

type udplife struct {
	in               *engine.Input
	whole, cut, flow *render.List[talkLine]
	talks            *talks
	gaps             *agg.Gaps
	compat           bool

	sessions, v6, differ int64
}

func newUdplife(in *engine.Input) engine.Fold {
	f := &udplife{in: in, compat: in.Flag("compat")}
	f.gaps = in.Gaps("udp_connect", "sys_socket")
	in.Sockets("their bytes and the time before it are missing")
	f.talks = newTalks(in, int64(in.Number("idle"))*1e9, f.ended)
	why := append(slices.Clip(talkFields), render.Text("why", func(l *talkLine) string { return l.why }).Text("WHY", 0))
	f.whole = render.ListOf(in.Table, render.Spec{Name: "sessions"}, talkFields...)
	f.cut = render.ListOf(in.Table, render.Spec{Name: "cut", Title: "at least this long: began before the recording or still open at its end"}, why...)
	f.flow = render.ListOf(in.Table, render.Spec{Name: "flows", Title: "of sockets that are not connected, by peer"}, why...)
	f.cut.Hold(1 << 16)
	f.flow.Hold(1 << 16)
	return f
}

// talkLine is a talk as a line shows it.
type talkLine struct {
	*talk
	of    *agg.Socket
	ns    int64
	whole bool // no call is missing
	why   string
}

var talkFields = append([]render.Field[talkLine]{
	render.NonZero("pid", func(l *talkLine) int64 { return l.who.Pid }).Text("PID", -5),
	render.TextOr("comm", func(l *talkLine) string { return l.who.Comm }).Text("COMM", -10).Cut(),
	render.TextOr("laddr", func(l *talkLine) string { return l.laddr }).Text("LADDR", -15),
	render.Num("lport", func(l *talkLine) int64 { return l.lport }).Text("LPORT", -5),
	render.TextOr("raddr", func(l *talkLine) string { return l.raddr }).Text("RADDR", -15),
	render.NonZero("rport", func(l *talkLine) int64 { return l.rport }).Text("RPORT", -5),
	render.NumOr("tx_bytes", func(l *talkLine) (int64, bool) { return l.tx, l.whole }).Text("TX_B", 6).In("bytes"),
	render.NumOr("rx_bytes", func(l *talkLine) (int64, bool) { return l.rx, l.whole }).Text("RX_B", 6).In("bytes"),
	render.Num("ms", func(l *talkLine) int64 { return l.ns / 1e6 }).Text("MS", 0).In("ms"),
	render.Num("life_ns", func(l *talkLine) int64 { return l.ns }).In("ns"),
	render.NumOr("first_send_us", func(l *talkLine) (int64, bool) { return (l.sent - l.began) / 1000, l.sent != 0 }).In("us"),
	render.NumOr("first_recv_us", func(l *talkLine) (int64, bool) { return (l.received - l.began) / 1000, l.received != 0 }).In("us"),
	render.Num("failed_sends", func(l *talkLine) int64 { return l.failed }),
}, render.Within(func(l *talkLine) *agg.Socket { return l.of }, line.IdentityFields...)...)

// ended lists what a socket and a peer had to say to each other.
func (f *udplife) ended(s *agg.Socket, k *talk, until int64, why string) {
	if f.compat {
		f.original(s, k, until, why)
		return
	}
	switch {
	case !k.connected:
		f.line(f.flow, s, k, k.last-k.began, why)
	case k.older || why == "open" || why == line.UnseenEnd:
		if k.older {
			why = line.Unborn(s, f.gaps) + ", " + why
		}
		f.line(f.cut, s, k, until-k.began, why)
	default:
		f.count(s, k)
		f.line(f.whole, s, k, until-k.began, "")
	}
}

// count compares a session with what the original says of it.
func (f *udplife) count(s *agg.Socket, k *talk) {
	f.sessions++
	switch {
	case line.IPVersion(s.Laddr) == 6:
		f.v6++
	case k.tx != k.asked || k.rx != k.read || k.again:
		f.differ++
	}
}

// original shows a socket by the original's rule, when it is gone.
func (f *udplife) original(s *agg.Socket, k *talk, until int64, why string) {
	if !k.connected || k.older || why != "closed" {
		return
	}
	if f.count(s, k); line.IPVersion(s.Laddr) == 6 {
		return
	}
	o := *k
	o.tx, o.rx = k.asked, k.read
	f.line(f.whole, s, &o, until-k.began, "")
}

func (f *udplife) line(t *render.List[talkLine], s *agg.Socket, k *talk, ns int64, why string) {
	t.Line(talkLine{k, s, ns, !f.in.Thinned(s, k.began, k.began+ns), why})
}

// Finish shows what was cut and the flows, and tells the rules apart.
func (f *udplife) Finish(a *render.Answer) {
	f.talks.finish()
	f.cut.Show()
	f.flow.Show()
	if n := f.cut.Dropped + f.flow.Dropped + f.talks.refused; n > 0 {
		a.Note("not listed, too many: " + engine.Thousands(n))
	}
	if n := f.talks.joined; n > 0 && !f.compat {
		a.Note(fmt.Sprintf("%s read without asking for the sender: counted for the only known peer", engine.Plural(n, "socket", "sockets")))
	}
	if f.v6+f.differ == 0 {
		return
	}
	if f.compat {
		a.Note(fmt.Sprintf("--compat: left out %s of IPv6; bytes or start differ in %s others", engine.Thousands(f.v6), engine.Thousands(f.differ)))
		return
	}
	a.Note(fmt.Sprintf("%s; the original (--compat) leaves out %s of IPv6, and has other bytes or another start in %s", engine.Plural(f.sessions, "session", "sessions"),
		engine.Thousands(f.v6), engine.Thousands(f.differ)))
}
