package analyze

import (
	"fmt"

	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "tcpacceptcount",
	Aliases:  []string{"p8"},
	Group:    groupWho,
	Question: "which processes take TCP connections from their accept queues, and how often?",
	Help: `Connections that the kernel's accept function returned, by process, rarest first.
The original counts calls when they begin, so also those that found the queue empty;
--compat does the same. A call that still waits when the recording ends counts in neither.`,
	Example: "tcpacceptcount --by comm,lport",
	Options: []engine.Option{engine.By("pid,comm", append([]string{"tid"}, engine.SocketKeys...)...), engine.Compat("also calls that returned no connection")},
	New: func(in *engine.Input) engine.Fold {
		sock, compat, keys := in.Int("sock"), in.Flag("compat"), in.Keys(nil)
		counts := shape.Count(in, "accepts", keys.Fields...)
		counts.Table.Unnamed = true
		var empty int64
		in.On("tcp_accept_fn", func(r *engine.Row) {
			if r.Uint(sock) == 0 {
				if empty++; !compat {
					return
				}
			}
			counts.Add(keys.Of(r), 1)
		})
		in.Sockets("")
		calls.WaitedAccepts(in, func(r *engine.Row) { counts.Add(keys.Of(r), 1) })
		return shape.Also(counts, engine.FoldFunc(func(a *render.Answer) {
			shape.NoteRules(a, empty, compat,
				fmt.Sprintf("--compat: includes %s without a connection", engine.Plural(empty, "call", "calls")),
				fmt.Sprintf("left out %s without a connection; the original counts them (--compat)", engine.Plural(empty, "call", "calls")))
		}))
	},
})
