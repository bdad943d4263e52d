package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

var _ = register(engine.Analysis{
	Name:     "sockcalls",
	Aliases:  []string{"p5"},
	Group:    groupMuch,
	Question: "which processes send and receive on sockets, and how often?",
	Help: `Calls of the kernel's two functions through which sockets of every family send and
receive, by function and process, rarest first; failed calls count. Each message of
sendmmsg(2) and recvmmsg(2) is a call of its own. The original's hook for sending no
longer sees the calls of programs on current kernels; this one does.`,
	Example: "sockcalls --by func,comm,proto",
	Options: []engine.Option{engine.By("func,pid,comm", append([]string{"errno", "second"}, engine.SocketKeys...)...)},
	New: func(in *engine.Input) engine.Fold {
		own := resultKeys(in, false)
		own["func"] = sockFunc(in)
		keys := in.Keys(own)
		counts := countBy[engine.Key](in, "calls", keys.Columns...)
		counts.table.Unnamed = true
		in.On("sock_io", func(r *engine.Row) { counts.Add(keys.Of(r), 1) })
		return counts
	},
})

// sockFunc is the key of the function that the originals hook.
func sockFunc(in *engine.Input) engine.KeyDef {
	dir := in.Str("dir")
	return engine.KeyDef{Columns: []render.Column{render.Col("func", render.String)}, Put: func(r *engine.Row, v *engine.KeyValues) {
		if r.Str(dir) == "send" {
			v.Str("sock_sendmsg")
		} else {
			v.Str("sock_recvmsg")
		}
	}}
}
