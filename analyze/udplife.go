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
	whole, cut, flow *render.Table
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
	cols := slices.Concat(line.Owner(), line.Ends(), []render.Column{render.Col("tx_bytes", render.Int).Text("TX_B", 6).In("bytes"), render.Col("rx_bytes", render.Int).Text("RX_B", 6).In("bytes"),
		render.Col("ms", render.Int).Text("MS", 0).In("ms"), render.Col("life_ns", render.Int).In("ns"), render.Col("first_send_us", render.Int).In("us"),
		render.Col("first_recv_us", render.Int).In("us"), render.Col("failed_sends", render.Int)}, line.Identity())
	why := append(cols[:len(cols):len(cols)], render.Col("why", render.String).Text("WHY", 0))
	f.whole = in.Table(render.Spec{Name: "sessions", Columns: cols})
	f.cut = in.Table(render.Spec{Name: "cut", Title: "at least this long: began before the recording or still open at its end", Columns: why}).Hold(1 << 16)
	f.flow = in.Table(render.Spec{Name: "flows", Title: "of sockets that are not connected, by peer", Columns: why}).Hold(1 << 16)
	return f
}

// ended lists what a socket and a peer had to say to each other.
func (f *udplife) ended(s *agg.Socket, k *talk, until int64, why string) {
	if f.compat {
		f.original(s, k, until, why)
		return
	}
	switch {
	case !k.connected:
		f.line(f.flow, s, k, k.last-k.began).Str(why).End()
	case k.older || why == "open" || why == line.UnseenEnd:
		if k.older {
			why = line.Unborn(s, f.gaps) + ", " + why
		}
		f.line(f.cut, s, k, until-k.began).Str(why).End()
	default:
		f.count(s, k)
		f.line(f.whole, s, k, until-k.began).End()
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
	f.line(f.whole, s, &o, until-k.began).End()
}

func (f *udplife) line(t *render.Table, s *agg.Socket, k *talk, ns int64) *render.Table {
	t.IntOr(k.who.Pid, k.who.Pid != 0).StrOr(k.who.Comm).StrOr(k.laddr).Int(k.lport).StrOr(k.raddr).IntOr(k.rport, k.rport != 0)
	whole := !f.in.Thinned(s, k.began, k.began+ns)
	t.IntOr(k.tx, whole).IntOr(k.rx, whole).Int(ns/1e6).Int(ns).IntOr((k.sent-k.began)/1000, k.sent != 0).IntOr((k.received-k.began)/1000, k.received != 0).Int(k.failed)
	return line.PutIdentity(t, s)
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
