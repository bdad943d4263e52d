package line

import (
	"fmt"
	"net/netip"
	"slices"

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
	t      *render.Table
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
		f.t = in.Table(render.Spec{Name: "sessions", Columns: f.columns()})
		return f
	}
	return a
}

func (f *transitions) columns() []render.Column {
	time, ip := render.Col("time", render.Clock).Text("TIME", -8).ForPeople(), render.Col("ip", render.Int).Text("IP", -3)
	more := slices.Concat(Identity(), []render.Column{render.Col("ts_ns", render.Int).In("ns")})
	if f.Client {
		return slices.Concat([]render.Column{time, render.Col("pid", render.Int).Text("PID", -6), render.Col("comm", render.String).Text("COMM", -16), ip,
			render.Col("saddr", render.String).Text("SADDR", -15), render.Col("lport", render.Int),
			render.Col("daddr", render.String).Text("DADDR", -15), render.Col("dport", render.Int).Text("DPORT", -5)}, more)
	}
	return slices.Concat([]render.Column{time, render.Col("pid", render.Int), render.Col("comm", render.String), ip,
		render.Col("raddr", render.String).Text("RADDR", -14), render.Col("rport", render.Int).Text("RPORT", -5),
		render.Col("laddr", render.String).Text("LADDR", -14), render.Col("lport", render.Int).Text("LPORT", -5)}, more)
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
	pid, comm := s.Pid, s.Comm
	if f.compat && f.Client {
		pid, comm = task.Pid, task.Comm
	}
	f.t.Int(f.in.Local(ts)).IntOr(pid, pid != 0).StrOr(comm).Int(IPVersion(s.Raddr))
	if f.Client {
		f.t.StrOr(laddr).IntOr(s.Lport, s.Lport != 0).StrOr(raddr).Int(s.Rport)
	} else {
		f.t.StrOr(raddr).Int(s.Rport).StrOr(laddr).Int(s.Lport)
	}
	PutIdentity(f.t, s).Int(ts).End()
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
