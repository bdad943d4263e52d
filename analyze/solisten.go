package analyze

import (
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "solisten",
	Group:    groupWho,
	Question: "who starts to listen, where, and with what backlog?",
	Help: `One line per listen(2) of an IP socket, including failed calls. BACKLOG is what the program
asked for, LIMIT what the socket got: the kernel caps it at net.core.somaxconn. RESULT is
ok or the error. --show-netns adds the network namespace.

Sockets that were already listening when the recording began are not shown. --compat prints
BCC's columns, without LIMIT and RESULT.`,
	Example: "solisten --show-netns",
	Options: []engine.Option{
		{Name: "show-netns", Kind: engine.Flag, Doc: "network namespace of the socket"},
		{Name: "netns", Short: "n", Kind: engine.Number, Doc: "only this network namespace, by the number of its inode"},
		engine.Compat("columns of BCC"),
	},
	New: func(in *engine.Input) engine.Fold {
		pid, comm, family, typ := in.Int("pid"), in.Str("comm"), in.Str("family"), in.Str("sock_type")
		proto, asked, limit, ret := in.Str("protocol"), in.Int("backlog"), in.Int("sk_max_ack_backlog"), in.Int("ret")
		addr, port, netns := in.Str("laddr"), in.Int("lport"), in.Int("netns")
		in.Sockets("those that listen already do not appear")
		compat, only := in.Flag("compat"), int64(in.Number("netns"))
		var cut, others, failures int64
		t := render.ListOf(in.Table, render.Spec{Name: "listens"},
			render.Num("pid", func(r *engine.Row) int64 { return r.Int(pid) }).Text("PID", -7),
			render.Text("comm", func(r *engine.Row) string { return r.Str(comm) }).Text("COMM", -12),
			render.Num("netns", func(r *engine.Row) int64 { return r.Int(netns) }).TextIf(in.Flag("show-netns"), "NETNS", -12),
			render.Text("proto", func(r *engine.Row) string { return listenProto(r.Str(proto), r.Str(typ), r.Str(family)) }).Text("PROTO", -6),
			render.Num("backlog", func(r *engine.Row) int64 { return r.Int(asked) }).Text("BACKLOG", -8),
			render.NumOr("limit", func(r *engine.Row) (int64, bool) { return r.Int(limit), r.Int(ret) >= 0 }).TextIf(!compat, "LIMIT", -8),
			render.Num("port", func(r *engine.Row) int64 { return r.Int(port) }).Text("PORT", -5),
			render.Text("addr", func(r *engine.Row) string { return r.Str(addr) }).Text("ADDR", -39),
			render.Text("result", func(r *engine.Row) string { return listenResult(r.Int(ret)) }).TextIf(!compat, "RESULT", 0),
			render.Num("ret", func(r *engine.Row) int64 { return r.Int(ret) }).Fails(render.FailedCall),
			render.Num("ts_ns", func(r *engine.Row) int64 { return r.TS }).In("ns"),
			render.Address("sock", func(r *engine.Row) uint64 { return listenerOf(r).Addr }),
			render.Num("generation", func(r *engine.Row) int64 { return int64(listenerOf(r).Gen) }))
		in.On("sys_listen", func(r *engine.Row) {
			f := r.Str(family)
			if only != 0 && r.Int(netns) != only {
				return
			}
			if f != "inet" && f != "inet6" {
				others++
				return
			}
			failed := r.Int(ret) < 0
			if !failed && r.Int(limit) < r.Int(asked) {
				cut++
			}
			if failed {
				failures++
			}
			t.Add(r)
		})
		return engine.FoldFunc(func(a *render.Answer) {
			shape.NoteRules(a, failures, compat, engine.Plural(failures, "call", "calls")+" failed and not marked, as in BCC",
				engine.Plural(failures, "call", "calls")+" failed, which BCC does not say (--compat)")
			if cut > 0 {
				a.Note(fmt.Sprintf("%s asked for more than net.core.somaxconn allows", engine.Plural(cut, "call", "calls")))
			}
			if others > 0 {
				a.Note("left out " + engine.Plural(others, "call", "calls") + " on sockets of other families")
			}
		})
	},
})

// listenResult is what listen(2) said.
func listenResult(ret int64) string {
	if ret < 0 {
		return render.Errno(ret)
	}
	return "ok"
}

// listenerOf is the socket of a row, or one that nothing is known of.
func listenerOf(r *engine.Row) *agg.Socket {
	if r.Sock == nil {
		return &agg.Socket{}
	}
	return r.Sock
}

// listenProto is the protocol as BCC names it: TCPv4, TCPv6; others by their own name.
func listenProto(proto, typ, family string) string {
	if typ == "stream" && (proto == "" || proto == "ip") {
		proto = "tcp"
	}
	if proto = strings.ToUpper(proto); family == "inet6" {
		return proto + "v6"
	}
	return proto + "v4"
}
