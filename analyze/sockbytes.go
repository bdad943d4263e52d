package analyze

import (
	"fmt"

	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "sockbytes",
	Aliases:  []string{"p6"},
	Group:    groupMuch,
	Question: "how many bytes do processes send and receive on sockets?",
	Help: `Bytes that send and receive calls transferred, by process and direction, fewest first.
Reads with MSG_PEEK leave the data for the next read and are not counted. The original
adds both directions together and counts peeked bytes twice; --compat does the same.
--by ustack shows which code transfers them, in recordings made with --io-stacks.`,
	Example: "sockbytes --by comm,dir,host",
	Options: []engine.Option{engine.By("pid,comm,dir", append([]string{"second", "ustack"}, engine.SocketKeys...)...), engine.Compat("directions together, MSG_PEEK counted")},
	New: func(in *engine.Input) engine.Fold {
		ret, bytes, compat := in.Int("ret"), in.Bytes(), in.Flag("compat")
		own := map[string]engine.KeyDef{}
		if compat {
			own["dir"] = nil
		}
		keys := in.Keys(own)
		sums := shape.Count(in, "bytes", keys.Fields...)
		sums.Table.Unnamed = true
		var peeked int64
		in.On(calls.IOEvent(in), func(r *engine.Row) {
			n := r.Int(ret)
			if n <= 0 {
				return
			}
			if bytes.Peeked(r) {
				if peeked += n; !compat {
					return
				}
			}
			sums.Add(keys.Of(r), n)
		})
		return shape.Also(sums, engine.FoldFunc(func(a *render.Answer) {
			switch {
			case peeked > 0 && compat:
				a.Note(fmt.Sprintf("--compat: includes %s bytes read with MSG_PEEK", engine.Thousands(peeked)))
			case peeked > 0:
				a.Note(fmt.Sprintf("left out %s bytes read with MSG_PEEK; the original counts them (--compat)", engine.Thousands(peeked)))
			}
		}))
	},
})
