package line

import (
	"fmt"
	"net/netip"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

// Transition makes an analysis with a line for each TCP session that changes from one
// state to another, as the tracepoint versions of tcpconnect and tcpaccept have.
type Transition struct {
	From, To string
	Client   bool   // who connects: process, local and remote address, remote port
	IPv6     string // what the original prints for every IPv6 address that is not a mapped one
}

type transitions struct {
	Transition
	in     *engine.Input
	t      *render.List[transition]
	lines  Waiting[shape.Process]
	names  agg.Intern
	compat bool
	v6     int64

	Pid                      scan.Int
	OldState, NewState, Comm scan.Str
}

// Of completes the declaration of an analysis with options and fold.
func (k Transition) Of(a engine.Analysis) engine.Analysis {
	a.Options = []engine.Option{engine.Compat("IPv6 addresses from the fields for IPv4, as the original reads them")}
	a.New = func(in *engine.Input) engine.Fold {
		f := &transitions{Transition: k, in: in, compat: in.Flag("compat")}
		in.Bind(f)
		in.Sockets("")
		in.On("tcp_state", f.state)
		in.OnEnd(f.lines.Ended)
		f.lines.Line = f.line
		f.t = render.ListOf(in.Table, render.Spec{Name: "sessions"}, f.fields()...)
		return f
	}
	return a
}

// transition is a session that changed, as a line shows it.
type transition struct {
	*agg.Socket
	who          shape.Process
	laddr, raddr string
	ts           int64
}

func (f *transitions) fields() []render.Field[transition] {
	ts := func(l *transition) int64 { return l.ts }
	laddr, raddr := func(l *transition) string { return l.laddr }, func(l *transition) string { return l.raddr }
	lport, rport := func(l *transition) int64 { return l.Lport }, func(l *transition) int64 { return l.Rport }
	fs := []render.Field[transition]{
		TimeOfDay(f.in, ts),
		render.NonZero("pid", func(l *transition) int64 { return l.who.Pid }).TextIf(f.Client, "PID", -6),
		render.TextOr("comm", func(l *transition) string { return l.who.Comm }).TextIf(f.Client, "COMM", -16),
		render.Num("ip", func(l *transition) int64 { return IPVersion(l.Raddr) }).Text("IP", -3),
	}
	if f.Client {
		fs = append(fs, render.TextOr("saddr", laddr).Text("SADDR", -15), render.NonZero("lport", lport),
			render.TextOr("daddr", raddr).Text("DADDR", -15), render.Num("dport", rport).Text("DPORT", -5))
	} else {
		fs = append(fs, render.TextOr("raddr", raddr).Text("RADDR", -14), render.Num("rport", rport).Text("RPORT", -5),
			render.TextOr("laddr", laddr).Text("LADDR", -14), render.Num("lport", lport).Text("LPORT", -5))
	}
	return append(append(fs, render.Within(func(l *transition) *agg.Socket { return l.Socket }, IdentityFields...)...), render.Num("ts_ns", ts).In("ns"))
}

func (f *transitions) state(r *engine.Row) {
	if r.Sock.TCP() && r.Str(f.OldState) == f.From && r.Str(f.NewState) == f.To {
		f.lines.Add(r.Sock, r.TS, shape.Process{Comm: f.names.Get(r.Str(f.Comm)), Pid: r.Int(f.Pid)})
	}
}

func (f *transitions) line(s *agg.Socket, ts int64, task shape.Process) {
	v6, laddr, raddr := IPVersion(s.Raddr) == 6, s.Laddr, s.Raddr
	if v6 {
		if f.v6++; f.compat {
			laddr, raddr = f.asIPv4(laddr), f.asIPv4(raddr)
		}
	}
	who := shape.Process{Comm: s.Comm, Pid: s.Pid}
	if f.compat && f.Client {
		who = task
	}
	f.t.Line(transition{s, who, laddr, raddr, ts})
}

// asIPv4 is what the original makes of an IPv6 address: the field for IPv4, printed as the
// first four bytes of an IPv6 address. Only a mapped address is in that field.
func (f *transitions) asIPv4(addr string) string {
	a, err := netip.ParseAddr(addr)
	if err != nil || !a.Is4In6() {
		return f.IPv6
	}
	var b [16]byte
	four := a.Unmap().As4()
	copy(b[:], four[:])
	return netip.AddrFrom16(b).String()
}

// Finish writes the lines that still wait and tells the rules apart.
func (f *transitions) Finish(a *render.Answer) {
	f.lines.Rest()
	shape.NoteRules(a, f.v6, f.compat,
		fmt.Sprintf("--compat: the addresses of %s are wrong, as in the original", engine.Plural(f.v6, "IPv6 session", "IPv6 sessions")),
		fmt.Sprintf("%s; instead of their addresses the original (--compat) prints the IPv4 field: %s, or four bytes of a mapped address", engine.Plural(f.v6, "IPv6 session", "IPv6 sessions"), f.IPv6))
}
