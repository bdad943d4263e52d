package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
	"netrec/schema"
)

var _ = register(engine.Analysis{
	Name:     "tcpbind",
	Group:    groupWho,
	Question: "who binds TCP sockets to which address and port, and does it succeed?",
	Help: `One line per bind(2) of a TCP socket; the protocol is the socket's own. ADDR is what the
program asked for. PORT is what the socket then had, so a bind to port 0 shows the port
that the kernel chose, with ASKED 0. --implicit adds sockets that never called bind and got
their port from connect(2) or listen(2); RET then names the call.

OPTS are the options that decide what a socket can bind to, as bindsnoop shows them. IF is
the index of the device it is bound to, 0 for none:
  F....  IP_FREEBIND              ...R.  SO_REUSEADDR
  .T...  IP_TRANSPARENT           ....r  SO_REUSEPORT
  ..N..  IP_BIND_ADDRESS_NO_PORT

The options are bindsnoop's. Failures are always listed (its -E and -x), ADDR is always wide
(-w), and -p works as in every analysis.
` + line.CgroupsHelp,
	Example: "tcpbind --implicit",
	Options: slices.Concat([]engine.Option{{Name: "implicit", Kind: engine.Flag, Doc: "also ports chosen by connect and listen"},
		{Name: "timestamp", Short: "t", Kind: engine.Flag, Doc: "seconds since the start instead of the time of day"},
		{Name: "count", Kind: engine.Flag, Doc: "binds per address and port instead of lines"}, line.PortsOption("ports", "P", "local")}, line.UserOptions),
	New: newTcpbind,
})

type tcpbind struct {
	in    *engine.Input
	t     *render.List[bindLine]
	stamp *line.Stamp
	users *line.Users
	ports line.PortList
	bound agg.PerSocket[bool]
	count *bindCounts // nil for lines

	implicit, bare int64 // bare: options not recorded

	Pid, BindPort, Lport, Ret, BoundIfindex   scan.Int
	Comm, Protocol, BindAddr, Laddr, BindOpts scan.Str
}

func newTcpbind(in *engine.Input) engine.Fold {
	f := &tcpbind{in: in, stamp: line.NewStamp(in, !in.Flag("timestamp"), in.Flag("timestamp"), 6), users: line.NewUsers(in), ports: line.NewPortList(in, "ports")}
	in.Bind(f)
	in.Sockets("")
	if in.Flag("count") {
		f.count = &bindCounts{}
	}
	f.t = render.ListOf(in.Table, render.Spec{Name: "binds"}, f.fields()...)
	in.On("sys_bind", f.bind)
	if in.Flag("implicit") {
		in.Use("sys_listen", "ports that listen chose are not told", f.listen)
		in.OnEnd(f.ended)
	}
	return f
}

// bindLine is a bind, or a port that another call chose, as a line shows it.
type bindLine struct {
	ts, uid          int64
	who              shape.Process
	addr, opts, said string
	port, asked, dev int64
	ret              int64
	call, told       bool // it is a call of bind; options and device are recorded
	sock             agg.Socket
}

func (f *tcpbind) fields() []render.Field[bindLine] {
	ts := func(l *bindLine) int64 { return l.ts }
	return append(append(line.StampFields(f.stamp, -9, ts),
		line.UserField(f.users, func(l *bindLine) int64 { return l.uid }),
		render.NumOr("pid", func(l *bindLine) (int64, bool) { return l.who.Pid, l.call || l.who.Pid != 0 }).Text("PID", -7),
		render.Text("comm", func(l *bindLine) string { return l.who.Comm }).Text("COMM", -16),
		render.Num("ip", func(l *bindLine) int64 { return line.IPVersion(l.addr) }).Text("IP", -2),
		render.Text("addr", func(l *bindLine) string { return l.addr }).Text("ADDR", -39),
		render.Num("port", func(l *bindLine) int64 { return l.port }).Text("PORT", -5),
		render.NumOr("asked_port", func(l *bindLine) (int64, bool) { return l.asked, l.call }).Text("ASKED", -5),
		render.TextOr("opts", func(l *bindLine) string { return l.opts }).Text("OPTS", -5),
		render.NumOr("bound_ifindex", func(l *bindLine) (int64, bool) { return l.dev, l.told }).Text("IF", -3),
		render.Text("result", func(l *bindLine) string { return l.said }).Text("RET", 0),
		render.NumOr("ret", func(l *bindLine) (int64, bool) { return l.ret, l.call }).Fails(render.FailedCall),
		render.Num("ts_ns", ts).In("ns")),
		render.Within(func(l *bindLine) *agg.Socket { return &l.sock }, line.IdentityFields...)...)
}

func (f *tcpbind) bind(r *engine.Row) {
	if r.Str(f.Protocol) != "tcp" {
		return
	}
	uid, wanted := f.users.Wants(r)
	var s agg.Socket
	if r.Sock != nil {
		s = *r.Sock
		*f.bound.Of(r.Sock) = true
	}
	if !wanted {
		return
	}
	said, port, ret := "0", r.Int(f.Lport), r.Int(f.Ret)
	if ret != 0 {
		said, port = render.Errno(ret), r.Int(f.BindPort)
	}
	if !f.ports.Has(port) {
		return
	}
	if f.count != nil {
		f.count.add(r.Str(f.BindAddr), port)
		return
	}
	l := bindLine{ts: r.TS, uid: uid, who: shape.Process{Comm: r.Str(f.Comm), Pid: r.Int(f.Pid)}, addr: r.Str(f.BindAddr), port: port, asked: r.Int(f.BindPort),
		said: said, ret: ret, call: true, told: r.HasStr(f.BindOpts), sock: s}
	if l.told {
		l.opts, l.dev = bindOpts(r.Str(f.BindOpts)), r.Int(f.BoundIfindex)
	} else {
		f.bare++
	}
	f.t.Line(l)
}

// listen takes a socket that listens without having been bound.
func (f *tcpbind) listen(r *engine.Row) {
	if r.Sock == nil || r.Str(f.Protocol) != "tcp" || r.Int(f.Ret) != 0 || *f.bound.Of(r.Sock) {
		return
	}
	*f.bound.Of(r.Sock) = true
	f.unbound(r.Sock, r.TS, r.Int(f.Pid), r.Str(f.Comm), r.Str(f.Laddr), r.Int(f.Lport), "listen")
}

// ended takes a socket that connected without having been bound.
func (f *tcpbind) ended(s *agg.Socket) {
	if s.Protocol == "tcp" && s.Active && s.Born && s.Lport != 0 && !*f.bound.Of(s) {
		f.unbound(s, s.First, s.Pid, s.Comm, s.Laddr, s.Lport, "connect")
	}
}

func (f *tcpbind) unbound(s *agg.Socket, ts, pid int64, comm, addr string, port int64, by string) {
	if f.users.Only != line.NoUser || !f.ports.Has(port) {
		return // who they are is not told
	}
	if f.implicit++; f.count != nil {
		f.count.add(addr, port)
		return
	}
	f.t.Line(bindLine{ts: ts, uid: line.NoUser, who: shape.Process{Comm: comm, Pid: pid}, addr: addr, port: port, said: by, sock: *s})
}

// Finish counts what was not asked for, and says what the recording does not have.
func (f *tcpbind) Finish(a *render.Answer) {
	if f.count != nil {
		f.count.show(f.in)
	}
	if f.implicit > 0 {
		a.Note(fmt.Sprintf("%s never called bind: listed at the end of their life, with the call that gave them a port", engine.Plural(f.implicit, "socket", "sockets")))
	}
	if f.bare > 0 {
		a.Note(fmt.Sprintf("not recorded: options and device of %s", engine.Plural(f.bare, "bind", "binds")))
	}
	f.users.Note(a, "bind", "binds")
}

// bindCounts counts binds per address and port, as bindsnoop does.
type bindCounts struct {
	names agg.Intern
	binds agg.Top[boundTo]
}

// boundTo is what a socket was bound to, or asked for in vain.
type boundTo struct {
	addr string
	port int64
}

func (c *bindCounts) add(addr string, port int64) { c.binds.Add(boundTo{c.names.Get(addr), port}, 1) }

type bindCount = agg.Entry[boundTo]

var bindCountFields = []render.Field[bindCount]{
	render.TextOr("laddr", func(c *bindCount) string { return c.Key.addr }).Text("LADDR", -39),
	render.Num("lport", func(c *bindCount) int64 { return c.Key.port }).Text("LPORT", 5),
	render.Num("binds", func(c *bindCount) int64 { return c.Count }).Text("BINDS", 10),
}

func (c *bindCounts) show(in *engine.Input) {
	t := render.ListOf(in.Table, render.Spec{Name: "counts"}, bindCountFields...)
	for _, e := range c.binds.Best(1<<16, func(a, b boundTo) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.port, b.port))
	}) {
		t.Line(e)
	}
}

// bindLetters are what bindsnoop shows for the options of a socket, in the order of their bits.
const bindLetters = "FTNRr"

// bindOpts makes letters of the names that a row has: reuseaddr|reuseport is ...Rr.
func bindOpts(names string) string {
	letters := []byte(bindLetters)
	for i, v := range schema.BindOpts.Values {
		if !strings.Contains("|"+names+"|", "|"+v.Name+"|") {
			letters[i] = '.'
		}
	}
	return string(letters)
}
