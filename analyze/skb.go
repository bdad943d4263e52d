package analyze

import (
	"fmt"
	"strings"

	"netrec/analyze/engine"
	"netrec/analyze/packets"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "skb",
	Aliases:  []string{"packet"},
	Group:    groupStart,
	Arg:      "ADDR",
	ArgFrom:  "skblife --top",
	Question: "what became of one packet: where did it go, what was made of it?",
	Help: `The timeline of the sk_buff at an address, and of everything cloned, copied or cut from
it. If GRO or TCP merges it into another sk_buff, the timeline follows that one. An
sk_buff that was made from another one names it; ask for that address to see what
happened before. An address can be reused: GEN tells its lives apart.`,
	Example: "skb 0xffff888112345600",
	Options: []engine.Option{{Name: "limit", Short: "l", Kind: engine.Number, Default: "1000", Doc: "maximum lines of the timeline"}},
	New:     newPacket,
})

// packetEvents are the events of sk_buffs, in the order of a packet's way.
var packetEvents = []string{"skb_alloc", "skb_derive", "dev_queue", "qdisc_enq", "qdisc_deq", "qdisc_drop", "dev_start_xmit", "dev_xmit",
	"dev_gro_in", "dev_recv", "ip_ecn", "icmp_echo", "tcp_rcv_est", "tcp_retrans", "tcp_syn_arrive", "skb_consume", "skb_drop", "skb_free"}

type packet struct {
	in    *engine.Input
	t     *render.List[packetLine]
	root  uint64
	alive map[uint64]bool // those that are followed
	gen   int64
	whole bool // skb_free tells of every end

	Skb, ParentSkb, Ok, LenBytes, Rc, Packets, GsoSegs     scan.Int
	DeriveKind, Dev, QdiscKind, Func, Location, DropReason scan.Str
}

func newPacket(in *engine.Input) engine.Fold {
	f := &packet{in: in, root: in.Addr(), alive: map[uint64]bool{}, whole: in.Meta.Rows["skb_free"] > 0}
	in.Bind(f)
	in.Sockets("")
	packets.Follow(in, f.over, func() {}) // the time line shows what there is
	for _, e := range packetEvents {
		in.Use(e, "the time line has gaps", f.row)
	}
	f.t = render.ListOf(in.Table, render.Spec{Name: "timeline"}, f.fields()...)
	f.t.Hold(max(1, in.Number("limit")))
	return f
}

// packetLine is a row about the packet as a line shows it.
type packetLine struct {
	*engine.Row
	pid        int64
	comm, what string
}

func (f *packet) fields() []render.Field[packetLine] {
	return []render.Field[packetLine]{
		render.Num("generation", func(*packetLine) int64 { return f.gen }).Text("GEN", 3),
		render.Num("time_s", func(l *packetLine) int64 { return (l.TS - f.in.Start()) / 1000 }).As(render.Fixed).Digits(6).Text("TIME(s)", 12).In("s"),
		render.Address("skb", func(l *packetLine) uint64 { return l.Uint(f.Skb) }).Text("SKB", -18),
		render.NonZero("pid", func(l *packetLine) int64 { return l.pid }).Text("PID", -7),
		render.TextOr("comm", func(l *packetLine) string { return l.comm }).Text("COMM", -15),
		render.Text("event", func(l *packetLine) string { return l.Event.Name }).Text("EVENT", -14),
		render.Text("what", func(l *packetLine) string { return l.what }).Text("WHAT", 0),
		render.NonZero("sock", (*packetLine).sock).As(render.Addr),
		render.Num("ts_ns", func(l *packetLine) int64 { return l.TS }).In("ns"),
	}
}

// sock is the address of the row's socket, 0 if it has none.
func (l *packetLine) sock() int64 {
	if l.Sock == nil {
		return 0
	}
	return int64(l.Sock.Addr)
}

func (f *packet) row(r *engine.Row) {
	addr, parent := r.Uint(f.Skb), r.Uint(f.ParentSkb)
	derived := r.Event.Name == "skb_derive"
	if addr == f.root && (len(f.alive) == 0 || r.Event.Name == "skb_alloc") {
		f.gen++
		clear(f.alive)
		f.alive[addr] = true
	}
	if !f.alive[addr] && !(derived && f.alive[parent]) {
		return
	}
	f.line(r, f.words(r))
	if derived && r.Int(f.Ok) != 0 {
		f.derive(addr, parent, r.Str(f.DeriveKind))
	}
	if r.Event.Name == "skb_free" || !f.whole && (r.Event.Name == "skb_consume" || r.Event.Name == "skb_drop") {
		delete(f.alive, addr)
	}
}

// over ends an sk_buff that must have ended unseen.
func (f *packet) over(skb uint64) {
	if delete(f.alive, skb); skb == f.root {
		clear(f.alive)
	}
}

// derive follows what is made of the packet, and what takes it in.
func (f *packet) derive(child, parent uint64, kind string) {
	const most = 1 << 16
	switch {
	case len(f.alive) >= most:
	case kind == "gro" || kind == "coalesce":
		if f.alive[child] {
			f.alive[parent] = true
		}
	case f.alive[parent]:
		f.alive[child] = true
	}
}

// words is what the row says.
func (f *packet) words(r *engine.Row) string {
	n := r.Int(f.LenBytes)
	switch r.Event.Name {
	case "skb_alloc":
		return "born in " + r.Str(f.Func)
	case "skb_derive":
		return f.derivation(r)
	case "dev_queue", "dev_start_xmit", "dev_gro_in", "dev_recv":
		if segs := r.Int(f.GsoSegs); segs > 1 {
			return fmt.Sprintf("%s, %d bytes for %d segments", r.Str(f.Dev), n, segs)
		}
		return fmt.Sprintf("%s, %d bytes", r.Str(f.Dev), n)
	case "dev_xmit":
		return fmt.Sprintf("%s, %d bytes, driver returned %d", r.Str(f.Dev), n, r.Int(f.Rc))
	case "qdisc_enq", "qdisc_deq", "qdisc_drop":
		return fmt.Sprintf("%s of %s, %d bytes", r.Str(f.QdiscKind), r.Str(f.Dev), n)
	case "skb_drop":
		return fmt.Sprintf("dropped: %s at %s", r.Str(f.DropReason), r.Str(f.Location))
	case "skb_consume":
		return strings.TrimSpace("consumed " + r.Str(f.Location))
	case "skb_free":
		return "end in " + r.Str(f.Func)
	}
	return ""
}

// derivations are how an sk_buff came of its parent, or went into it.
var derivations = map[string]string{"clone": "cloned from", "copy": "copied from", "segment": "cut out of", "gro": "merged by GRO into", "coalesce": "merged by TCP into"}

// derivation says what became of two sk_buffs.
func (f *packet) derivation(r *engine.Row) string {
	s := fmt.Sprintf("%s 0x%x", derivations[r.Str(f.DeriveKind)], r.Uint(f.ParentSkb))
	if r.Int(f.Ok) == 0 {
		return "not " + s
	}
	return s
}

func (f *packet) line(r *engine.Row, what string) {
	pid, comm := f.in.Owner(r)
	f.t.Line(packetLine{r, pid, comm, what})
}

// Finish shows the time line.
func (f *packet) Finish(a *render.Answer) {
	f.t.Show()
	if n := f.t.Dropped; n > 0 {
		a.Note(fmt.Sprintf("timeline truncated: %s more lines; --limit shows more", engine.Thousands(n)))
	}
}
