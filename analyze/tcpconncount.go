package analyze

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "tcpconncount",
	Aliases:  []string{"p7"},
	Group:    groupWho,
	Question: "which processes open TCP connections, and how often?",
	Help: `Calls of the kernel functions that start a TCP connection, by process, rarest first.
Attempts that failed there count. tcpconnect shows the result of each.
An IPv6 socket that connects to an IPv4 address passes both functions, and the original
counts it twice; --compat does the same.`,
	Example: "tcpconncount --by comm,host",
	Options: []engine.Option{engine.By("pid,comm", append([]string{"func", "tid"}, engine.SocketKeys...)...), engine.Compat("IPv4 connects of IPv6 sockets counted twice")},
	New: func(in *engine.Input) engine.Fold {
		function, raddr, compat, keys := in.Str("func"), in.Str("raddr"), in.Flag("compat"), in.Keys(nil)
		counts := shape.Count(in, "connects", keys.Fields...)
		counts.Table.Unnamed = true
		var twice int64
		in.On("tcp_connect_fn", func(r *engine.Row) {
			n := int64(1)
			if r.Str(function) == "tcp_v6_connect" && line.Mapped(r.Str(raddr)) {
				if twice++; compat {
					n = 2
				}
			}
			counts.Add(keys.Of(r), n)
		})
		return shape.Also(counts, engine.FoldFunc(func(a *render.Answer) {
			shape.NoteRules(a, twice, compat,
				fmt.Sprintf("--compat: counts %s of IPv6 sockets to IPv4 addresses twice", engine.Plural(twice, "connect", "connects")),
				fmt.Sprintf("%s of IPv6 sockets to IPv4 addresses; the original counts these twice (--compat)", engine.Plural(twice, "connect", "connects")))
		}))
	},
})
