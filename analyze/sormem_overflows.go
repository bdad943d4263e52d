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

// overflow is a packet that found no room in a receive queue, or memory that was refused.
type overflow struct {
	event, prot, what             string
	rmem, rcvbuf, truesize, pages known
	who                           shape.Process // of the row, where the socket has no owner
	sock                          *agg.Socket
	serial, skb                   int64
	reason                        string // of the drop of that packet
	dropped                       bool   // or it is not to be waited for
}

// known is a number that a row may lack.
type known struct {
	v  int64
	ok bool
}

func knownOf(r *engine.Row, c scan.Int) known { return known{r.Int(c), r.Has(c)} }

// overflows lists them. A line waits until the owner of the socket and the end of the packet
// are known: the kernel says why it dropped a packet right after it found no room.
type overflows struct {
	in     *engine.Input
	t      *render.List[overflowLine]
	lines  line.Waiting[*overflow]
	bySkb  map[int64]*overflow
	names  agg.Intern
	compat bool
	drops  bool // are there

	SkRmemAlloc, SkRcvbuf, TruesizeBytes, MemAllocatedPages, Skb scan.Int
	ProtName, DropReason                                         scan.Str
}

func newOverflows(in *engine.Input, compat bool) *overflows {
	f := &overflows{in: in, compat: compat, drops: !compat && in.Recorded("skb_drop"), bySkb: map[int64]*overflow{}}
	in.Bind(f)
	f.lines.Line, f.lines.Ready = f.line, func(o *overflow) bool { return o.dropped }
	f.t = render.ListOf(in.Table, render.Spec{Name: "overflows", Look: render.Lines}, overflowFields...)
	in.OnEnd(f.lines.Ended)
	return f
}

// overflowLine is an overflow as a line shows it.
type overflowLine struct {
	*overflow
	owner *agg.Socket
	said  string
	ts    int64
}

var overflowFields = append([]render.Field[overflowLine]{
	render.Text("line", func(l *overflowLine) string { return l.said }).Text("line", 0).ForPeople(),
	render.Text("event", func(l *overflowLine) string { return l.event }),
	render.NumOr("rmem_alloc", func(l *overflowLine) (int64, bool) { return l.rmem.v, l.rmem.ok }).In("bytes"),
	render.NumOr("rcvbuf", func(l *overflowLine) (int64, bool) { return l.rcvbuf.v, l.rcvbuf.ok }).In("bytes"),
	render.NumOr("skb_bytes", func(l *overflowLine) (int64, bool) { return l.truesize.v, l.truesize.ok }).In("bytes"),
	render.NumOr("allocated_pages", func(l *overflowLine) (int64, bool) { return l.pages.v, l.pages.ok }).In("pages"),
	render.TextOr("drop_reason", func(l *overflowLine) string { return l.reason }),
	render.NonZero("pid", func(l *overflowLine) int64 { return l.who.Pid }),
	render.TextOr("comm", func(l *overflowLine) string { return l.who.Comm }),
	render.Num("ts_ns", func(l *overflowLine) int64 { return l.ts }).In("ns"),
}, render.Within(func(l *overflowLine) *agg.Socket { return l.owner }, line.IdentityFields...)...)

// add takes a row; what says it as the original does.
func (f *overflows) add(r *engine.Row, what string) {
	pid, comm := f.in.Owner(r)
	o := &overflow{event: r.Event.Name, prot: f.names.Get(r.Str(f.ProtName)), what: what, skb: r.Int(f.Skb), who: shape.Process{Comm: f.names.Get(comm), Pid: pid},
		rmem: knownOf(r, f.SkRmemAlloc), rcvbuf: knownOf(r, f.SkRcvbuf), truesize: knownOf(r, f.TruesizeBytes), pages: knownOf(r, f.MemAllocatedPages)}
	if o.dropped = o.skb == 0 || !f.drops; !o.dropped {
		f.bySkb[o.skb] = o
	}
	if r.Sock == nil {
		f.lines.Pass(r.TS, o)
		return
	}
	o.sock, o.serial = r.Sock, r.Sock.Serial
	f.lines.Add(r.Sock, r.TS, o)
}

// drop takes the end of a packet, and gives the socket that had no room for it: by then the
// packet does not know it. nil if there is none.
func (f *overflows) drop(r *engine.Row) *agg.Socket {
	o := f.bySkb[r.Int(f.Skb)]
	if o == nil {
		return nil
	}
	o.dropped, o.reason = true, f.names.Get(r.Str(f.DropReason))
	delete(f.bySkb, o.skb)
	if o.sock != nil && o.sock.Serial == o.serial {
		return o.sock
	}
	return nil
}

func (f *overflows) line(s *agg.Socket, ts int64, o *overflow) {
	if f.bySkb[o.skb] == o {
		delete(f.bySkb, o.skb)
	}
	if s.Pid != 0 {
		o.who = shape.Process{Comm: s.Comm, Pid: s.Pid}
	}
	said := "tracepoint:sock:" + o.event + " " + o.what
	if !f.compat {
		said += ", " + strings.Join(strings.Fields(fmt.Sprintf("%s > %s %s %s %s", render.Endpoint(s.Laddr, s.Lport), render.Endpoint(s.Raddr, s.Rport), o.prot, o.who.Comm, o.reason)), " ")
	}
	f.t.Line(overflowLine{o, s, said, ts})
}

// Finish writes what waits.
func (f *overflows) Finish(*render.Answer) { f.lines.Rest() }
