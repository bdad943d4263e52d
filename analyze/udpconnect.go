package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "udpconnect",
	Group:    groupWho,
	Question: "which processes connect UDP sockets, or send without connecting, to where?",
	Help: `One line per connect of a UDP socket. LPORT is the local port. RESULT is connected or the
error. WHAT names the service if the port is that of DNS. UDP needs no connect: --flows
also lists the first datagram that an unconnected socket sends to each destination.
--first adds when a connected socket sent and received its first datagram, in microseconds
after the connect. udplife shows how long sockets live and how much they transfer.
The original shows connects of all datagram sockets, including ping's, and does not mark
failures; --compat does the same.
Sockets that were connected before the recording are not shown.`,
	Example: "udpconnect --flows",
	Options: []engine.Option{
		{Name: "flows", Kind: engine.Flag, Doc: "also destinations of sockets that are not connected"},
		{Name: "first", Kind: engine.Flag, Doc: "time until the first datagram was sent, and received"},
		engine.Compat("datagram sockets of all protocols, failures not marked")},
	New: newUdpconnect,
})

type udpconnect struct {
	in     *engine.Input
	t      *render.List[udpLine]
	seen   map[line.Destination]bool
	names  agg.Intern
	first  *udpFirst // nil without --first
	compat bool
	others int64 // connects of other protocols
	failed int64

	Pid, Ret, Lport, Rport, DestPort            scan.Int
	Comm, Laddr, Raddr, DestAddr, Protocol, Dir scan.Str
}

func newUdpconnect(in *engine.Input) engine.Fold {
	f := &udpconnect{in: in, seen: map[line.Destination]bool{}, compat: in.Flag("compat")}
	in.Bind(f)
	if event := in.FirstOf("udp_connect", "sys_connect"); event == "sys_connect" {
		kind := in.Str("sock_type")
		in.On(event, func(r *engine.Row) {
			if r.Str(kind) == "dgram" && r.Int(f.DestPort) != 0 {
				f.connect(r)
			}
		})
		in.Use("udp_connect", "local ports are not known, and connects of the kernel itself not seen", nil)
	} else {
		in.On(event, f.connect)
	}
	if in.Flag("flows") {
		in.Sockets("")
		in.Use("udp_msg", "sockets that are not connected are not seen", f.msg)
		in.Use("udp_gone", "", nil)
	}
	if in.Flag("first") && !f.compat {
		f.first = newUDPFirst(in, func(l *udpLine) { f.t.Add(l) })
	}
	f.t = render.ListOf(in.Table, render.Spec{Name: "connects"}, f.fields()...)
	return f
}

func (f *udpconnect) fields() []render.Field[udpLine] {
	ts := func(l *udpLine) int64 { return l.ts }
	fs := []render.Field[udpLine]{
		line.TimeOfDay(f.in, ts),
		render.Num("pid", func(l *udpLine) int64 { return l.pid }).Text("PID", -6),
		render.Text("comm", func(l *udpLine) string { return l.comm }).Text("COMM", -16),
		render.Num("ip", func(l *udpLine) int64 { return line.IPVersion(l.addr) }).Text("IP", -2),
		render.TextOr("raddr", func(l *udpLine) string { return l.addr }).Text("RADDR", -16),
		render.Num("rport", func(l *udpLine) int64 { return l.port }).Text("RPORT", -5),
	}
	if !f.compat {
		fs = append(fs, render.NonZero("lport", func(l *udpLine) int64 { return l.lport }).Text("LPORT", -5),
			render.Text("result", func(l *udpLine) string { return l.how }).Text("RESULT", -12).Fails(render.FailedWord))
	}
	if f.first != nil {
		fs = append(fs, render.NumOr("first_send_us", func(l *udpLine) (int64, bool) { return (l.sent - l.ts) / 1000, l.sent != 0 }).Text("SENT(us)", 10).In("us"),
			render.NumOr("first_recv_us", func(l *udpLine) (int64, bool) { return (l.received - l.ts) / 1000, l.received != 0 }).Text("RECV(us)", 10).In("us"))
	}
	if !f.compat {
		fs = append(fs, render.TextOr("service", (*udpLine).service).Text("WHAT", 0))
	}
	return append(fs, render.TextOr("protocol", func(l *udpLine) string { return l.proto }),
		render.TextOr("laddr", func(l *udpLine) string { return l.laddr }), render.Num("ts_ns", ts).In("ns"))
}

func (f *udpconnect) connect(r *engine.Row) {
	if r.Str(f.Protocol) != "udp" {
		if f.others++; !f.compat {
			return
		}
	}
	how := calls.Connected
	if ret := r.Int(f.Ret); ret != 0 {
		f.failed++
		how = render.Errno(ret)
	}
	f.line(r, r.Str(f.DestAddr), r.Int(f.DestPort), how)
}

// msg takes the first datagram to each destination.
func (f *udpconnect) msg(r *engine.Row) {
	if r.Sock == nil || r.Str(f.Dir) != "send" || r.Int(f.Rport) != 0 || r.Int(f.DestPort) == 0 {
		return
	}
	d := line.Destination{Serial: r.Sock.Serial, Addr: f.names.Get(r.Str(f.DestAddr)), Port: r.Int(f.DestPort)}
	if f.seen[d] {
		return
	}
	if len(f.seen) >= agg.MaxKeys {
		clear(f.seen)
	}
	f.seen[d] = true
	how := "unconnected"
	if ret := r.Int(f.Ret); ret < 0 {
		how = render.Errno(ret)
	}
	f.line(r, d.Addr, d.Port, how)
}

// Finish tells the rules apart.
func (f *udpconnect) Finish(a *render.Answer) {
	if f.first != nil {
		f.first.lines.Rest()
	}
	shape.NoteRules(a, f.others, f.compat,
		fmt.Sprintf("--compat: includes %s of other protocols", engine.Plural(f.others, "connect", "connects")),
		fmt.Sprintf("left out %s of other protocols (ping, raw); the original shows them (--compat)", engine.Plural(f.others, "connect", "connects")))
	if f.failed > 0 && f.compat {
		a.Note(engine.Plural(f.failed, "connect", "connects") + " failed; the original does not mark them")
	}
}

// udpFirst finds the first datagrams that a connected socket sends and receives. Lines are
// held back until both are known, or the socket ends.
type udpFirst struct {
	lines line.InOrder[udpLine]
	open  agg.PerSocket[udpOpen]
	gaps  *agg.Gaps

	Ret scan.Int
	Dir scan.Str
}

// udpOpen is the line of a socket that waits for its first datagrams.
type udpOpen struct {
	id             int64 // plus one: 0 is none
	began          int64
	sent, received int64
}

func newUDPFirst(in *engine.Input, write func(*udpLine)) *udpFirst {
	f := &udpFirst{}
	in.Bind(f)
	f.lines.Write = write
	in.Sockets("")
	event := in.FirstOf("udp_msg", "sock_io")
	f.gaps = in.Gaps(event)
	in.Use(event, "first datagrams are not known", f.msg)
	in.Use("udp_gone", "", nil)
	in.OnEnd(f.over)
	return f
}

// add takes a line; one of a socket that was connected waits.
func (f *udpFirst) add(s *agg.Socket, l udpLine, connected bool) {
	f.over(s)
	id := f.lines.Add(l, !connected || s == nil)
	if connected && s != nil {
		*f.open.Of(s) = udpOpen{id: id + 1, began: l.ts}
	}
}

// over completes the line of a socket with what there is.
func (f *udpFirst) over(s *agg.Socket) {
	o := f.open.Of(s)
	if o.id == 0 {
		return
	}
	f.lines.Complete(o.id-1, func(l *udpLine) { l.sent, l.received = o.sent, o.received })
	o.id = 0
}

func (f *udpFirst) msg(r *engine.Row) {
	o := f.open.Of(r.Sock)
	if o.id == 0 || r.Int(f.Ret) < 0 {
		return
	}
	if f.gaps.Of(r.Sock, o.began, r.TS) { // an earlier one may be among lost rows
		f.over(r.Sock)
		return
	}
	if r.Str(f.Dir) == "send" {
		if o.sent == 0 {
			o.sent = r.TS
		}
	} else if o.received == 0 {
		o.received = r.TS
	}
	if o.sent != 0 && o.received != 0 {
		f.over(r.Sock)
	}
}

// udpLine is a connect, or a datagram of a socket that is not connected, as a line shows it.
type udpLine struct {
	ts, pid, port, lport          int64
	comm, addr, how, proto, laddr string
	sent, received                int64 // when the first datagram was, 0 if none
}

func (f *udpconnect) line(r *engine.Row, addr string, port int64, how string) {
	l := udpLine{ts: r.TS, pid: r.Int(f.Pid), comm: r.Str(f.Comm), addr: addr, port: port, how: how, lport: r.Int(f.Lport), proto: r.Str(f.Protocol), laddr: r.Str(f.Laddr)}
	if f.first == nil {
		f.t.Line(l)
		return
	}
	f.first.add(r.Sock, l, how == calls.Connected)
}

// service is what the port says of the destination, "" for nothing.
func (l *udpLine) service() string {
	if l.port == line.DNSPort {
		return "DNS"
	}
	return ""
}
