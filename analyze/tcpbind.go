package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "tcpbind",
	Group:    groupWho,
	Question: "who binds TCP sockets to which address and port, and does it succeed?",
	Help: `One line per bind(2) of a TCP socket: the protocol is the socket's own. ADDR is what the
program asked for; PORT what the socket then had, so that a bind to port 0 shows what the
kernel chose, with ASKED 0. --implicit adds sockets that never called bind and got their
port from connect(2) or listen(2), with the word in RET.

Socket options (SO_REUSEADDR, SO_REUSEPORT) are not in a recording.`,
	Example: "tcpbind --implicit",
	Options: []engine.Option{{Name: "implicit", Kind: engine.Flag, Doc: "ports that connect and listen chose, too"}},
	New:     newTcpbind,
})

type tcpbind struct {
	in    *engine.Input
	t     *render.Table
	bound agg.PerSocket[bool]

	implicit                                              int64
	pid, comm, proto, addr, asked, laddr, lport, ret, typ scan.Col
}

func newTcpbind(in *engine.Input) engine.Fold {
	f := &tcpbind{in: in, pid: in.Int("pid"), comm: in.Str("comm"), proto: in.Str("protocol"), addr: in.Str("bind_addr"), asked: in.Int("bind_port"),
		laddr: in.Str("laddr"), lport: in.Int("lport"), ret: in.Int("ret"), typ: in.Str("sock_type")}
	in.Sockets("")
	f.t = in.Table(render.Spec{Name: "binds", Columns: join([]render.Column{render.Col("time", render.Clock).Text("TIME", -8).ForPeople(), render.Col("pid", render.Int).Text("PID", -7),
		render.Col("comm", render.String).Text("COMM", -16), render.Col("ip", render.Int).Text("IP", -2), render.Col("addr", render.String).Text("ADDR", -39), render.Col("port", render.Int).Text("PORT", -5),
		render.Col("asked_port", render.Int).Text("ASKED", -5), render.Col("result", render.String).Text("RET", 0), render.Col("ret", render.Int), render.Col("ts_ns", render.Int).In("ns")}, identity())})
	in.On("sys_bind", f.bind)
	if in.Flag("implicit") {
		in.Use("sys_listen", "ports that listen chose are not told", f.listen)
	}
	if in.Flag("implicit") {
		in.OnEnd(f.ended)
	}
	return f
}

func (f *tcpbind) bind(r *engine.Row) {
	if r.Str(f.proto) != "tcp" {
		return
	}
	var s agg.Socket
	if r.Sock != nil {
		s = *r.Sock
		*f.bound.Of(r.Sock) = true
	}
	said, ret := "0", r.Int(f.ret)
	if ret != 0 {
		said = result(ret)
	}
	port := r.Int(f.lport)
	if ret != 0 {
		port = r.Int(f.asked)
	}
	f.t.Int(f.in.Local(r.TS)).Int(r.Int(f.pid)).Str(r.Str(f.comm)).Int(ipVersion(r.Str(f.addr))).Str(r.Str(f.addr)).Int(port).Int(r.Int(f.asked)).Str(said).Int(ret).Int(r.TS)
	putIdentity(f.t, &s).End()
}

// listen takes a socket that listens without having been bound.
func (f *tcpbind) listen(r *engine.Row) {
	if r.Sock == nil || r.Str(f.proto) != "tcp" || r.Int(f.ret) != 0 || *f.bound.Of(r.Sock) {
		return
	}
	*f.bound.Of(r.Sock) = true
	f.unbound(r.Sock, r.TS, r.Int(f.pid), r.Str(f.comm), r.Str(f.laddr), r.Int(f.lport), "listen")
}

// ended takes a socket that connected without having been bound.
func (f *tcpbind) ended(s *agg.Socket) {
	if s.Protocol == "tcp" && s.Active && s.Born && s.Lport != 0 && !*f.bound.Of(s) {
		f.unbound(s, s.First, s.Pid, s.Comm, s.Laddr, s.Lport, "connect")
	}
}

func (f *tcpbind) unbound(s *agg.Socket, ts, pid int64, comm, addr string, port int64, by string) {
	f.implicit++
	f.t.Int(f.in.Local(ts)).IntOr(pid, pid != 0).Str(comm).Int(ipVersion(addr)).Str(addr).Int(port).Null(1).Str(by).Null(1).Int(ts)
	putIdentity(f.t, s).End()
}

// Finish counts what was not asked for.
func (f *tcpbind) Finish(a *render.Answer) {
	if f.implicit > 0 {
		a.Note(fmt.Sprintf("%s never called bind: listed when their life ended, with the call that gave them a port", plural(f.implicit, "socket", "sockets")))
	}
}
