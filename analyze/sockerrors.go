package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "sockerrors",
	Group:    groupLost,
	Question: "which errors did sockets get, whose, and from which peer?",
	Help: `Errors that the kernel reported to TCP and UDP sockets (refused, reset, timed out,
unreachable), by error, process and peer, rarest first. The owner's next call on the socket
returns the error: this shows connects and sends that fail after their call has returned.
--by sock,second,errno shows which socket got which error when.

A socket that resets its own connection (SO_LINGER 0) gets ECONNRESET too; these are left
out. connfails and sockcalls have the errors that calls return at once.
Kernels before 5.14 have no hook for this.`,
	Example: "sockerrors --by second,errno,comm",
	Options: []engine.Option{engine.By("errno,comm,host,rport", append([]string{"state", "second", "minute", "ctx"}, engine.SocketKeys...)...)},
	New: func(in *engine.Input) engine.Fold {
		err, rport, protocol := in.Int("sk_err"), in.Int("rport"), in.Str("protocol")
		keys := in.Keys(map[string]engine.KeyDef{"errno": {render.Num("errno", func(r *engine.Row) int64 { return r.Int(err) }),
			render.TextOr("error", func(r *engine.Row) string { return render.ErrnoName(r.Int(err)) })}})
		counts := shape.Count(in, "errors", keys.Fields...)
		counts.Table.Unnamed = true
		const econnreset = 104
		var own int64
		in.On("sock_error", func(r *engine.Row) {
			if r.Str(protocol) == "tcp" && r.Int(rport) == 0 && r.Int(err) == econnreset {
				own++
				return
			}
			counts.Add(keys.Of(r), 1)
		})
		return shape.Also(counts, engine.FoldFunc(func(a *render.Answer) {
			if own > 0 {
				a.Note("left out " + engine.Plural(own, "reset", "resets") + " that the owner of the socket made (SO_LINGER 0)")
			}
		}))
	},
})
