package analyze

import (
	"fmt"

	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "connfails",
	Aliases:  []string{"p3", "b1 --by ret --look bcc"},
	Group:    groupLost,
	Question: "which connects fail, with which error?",
	Help: `Calls of connect(2) that returned an error, by process and error, rarest first.

A non-blocking connect returns EINPROGRESS and continues. That is no failure; soconnect and
tcpconnect show whether it fails later. The original counts EINPROGRESS as a failure.
--compat does the same, and prints errors without their names.`,
	Example: "connfails --by errno,host",
	Options: []engine.Option{engine.By("comm,errno", append(calls.Keys, "ustack")...), engine.Compat("count EINPROGRESS as a failure, print errors as numbers")},
	New: func(in *engine.Input) engine.Fold {
		ret, compat := in.Int("ret"), in.Flag("compat")
		keys := in.Keys(calls.ResultKeys(in, compat))
		counts := shape.Count(in, "failed", keys.Fields...)
		counts.Table.Unnamed = true
		var under int64
		in.On("sys_connect", func(r *engine.Row) {
			n := r.Int(ret)
			if n == -calls.EINPROGRESS {
				under++
			}
			if n < 0 && (compat || n != -calls.EINPROGRESS) {
				counts.Add(keys.Of(r), 1)
			}
		})
		return shape.Also(counts, engine.FoldFunc(func(a *render.Answer) {
			switch {
			case under > 0 && compat:
				a.Note(fmt.Sprintf("--compat: includes %s that returned EINPROGRESS and continued", engine.Plural(under, "connect", "connects")))
			case under > 0:
				a.Note(fmt.Sprintf("left out %s that returned EINPROGRESS and continued; the original counts them (--compat)", engine.Plural(under, "connect", "connects")))
			}
		}))
	},
})
