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
	Help: `Errors that the kernel reported to a TCP or UDP socket, by error, process and peer, rarest
first: refused, reset, timed out, unreachable. The owner's next call returns the error, unless
it looks at nothing any more; that is how a connect that went on, or a datagram that was sent,
fails later. --by sock,second,errno shows which socket got which error when.

A socket that resets its own connection (SO_LINGER with 0) gets ECONNRESET from itself; these
are left out. Errors that a call returns at once are in connfails and sockcalls.
Kernels before 5.14 do not report errors to recorders.`,
	Example: "sockerrors --by second,errno,comm",
	Options: []engine.Option{engine.By("errno,comm,host,rport", append([]string{"state", "second", "minute", "ctx"}, engine.SocketKeys...)...)},
	New: func(in *engine.Input) engine.Fold {
		err, rport, protocol := in.Int("sk_err"), in.Int("rport"), in.Str("protocol")
		keys := in.Keys(map[string]engine.KeyDef{"errno": {Columns: []render.Column{render.Col("errno", render.Int), render.Col("error", render.String)},
			Put: func(r *engine.Row, v *engine.KeyValues) {
				v.Int(r.Int(err))
				v.StrOr(render.ErrnoName(r.Int(err)))
			}}})
		counts := shape.Count[engine.Key](in, "errors", keys.Columns...)
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
				a.Note("left out " + engine.Plural(own, "reset", "resets") + " that sockets made of their own connection")
			}
		}))
	},
})
