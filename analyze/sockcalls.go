package analyze

import (
	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "sockcalls",
	Aliases:  []string{"p5"},
	Group:    groupMuch,
	Question: "which processes send and receive on sockets, and how often?",
	Help: `Calls of the two kernel functions through which sockets of every family send and receive,
by function and process, rarest first; failed calls count. Each message of sendmmsg(2) and
recvmmsg(2) counts as one call. On current kernels the original's hook for sending only
sees sends by the kernel itself, not by programs: --compat leaves sends out.
--by ustack shows which code calls, in recordings made with --io-stacks.`,
	Example: "sockcalls --by func,comm,proto",
	Options: []engine.Option{engine.By("func,pid,comm", append([]string{"errno", "second", "ustack"}, engine.SocketKeys...)...), calls.SendCompat},
	New: func(in *engine.Input) engine.Fold {
		own := calls.ResultKeys(in, false)
		own["func"] = sockFunc(in)
		keys := in.Keys(own)
		counts := shape.Count(in, "calls", keys.Fields...)
		counts.Table.Unnamed = true
		sends := calls.NewSends(in)
		in.On(calls.IOEvent(in), func(r *engine.Row) {
			if sends.Counted(r) {
				counts.Add(keys.Of(r), 1)
			}
		})
		return shape.Also(counts, sends)
	},
})

// sockFunc is the key of the function that the originals hook.
func sockFunc(in *engine.Input) engine.KeyDef {
	dir := in.Str("dir")
	return engine.KeyDef{render.Text("func", func(r *engine.Row) string {
		if r.Str(dir) == "send" {
			return "sock_sendmsg"
		}
		return "sock_recvmsg"
	})}
}
