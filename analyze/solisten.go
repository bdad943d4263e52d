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
		ns, got, res := render.Col("netns", render.Int), render.Col("limit", render.Int), render.Col("result", render.String)
		if in.Flag("show-netns") {
			ns = ns.Text("NETNS", -12)
		}
		if !compat {
			got, res = got.Text("LIMIT", -8), res.Text("RESULT", 0)
		}
		var cut, others, failures int64
		t := in.Table(render.Spec{Name: "listens", Columns: []render.Column{render.Col("pid", render.Int).Text("PID", -7), render.Col("comm", render.String).Text("COMM", -12), ns,
			render.Col("proto", render.String).Text("PROTO", -6), render.Col("backlog", render.Int).Text("BACKLOG", -8), got, render.Col("port", render.Int).Text("PORT", -5),
			render.Col("addr", render.String).Text("ADDR", -39), res, render.Col("ret", render.Int).Fails(render.FailedCall), render.Col("ts_ns", render.Int).In("ns"), render.Col("sock", render.Addr), render.Col("generation", render.Int)}})
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
			said := "ok"
			if failed {
				failures++
				said = render.Errno(r.Int(ret))
			}
			var s agg.Socket
			if r.Sock != nil {
				s = *r.Sock
			}
			t.Int(r.Int(pid)).Str(r.Str(comm)).Int(r.Int(netns)).Str(listenProto(r.Str(proto), r.Str(typ), f)).Int(r.Int(asked)).IntOr(r.Int(limit), !failed)
			t.Int(r.Int(port)).Str(r.Str(addr)).Str(said).Int(r.Int(ret)).Int(r.TS).Uint(s.Addr).Int(int64(s.Gen)).End()
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
