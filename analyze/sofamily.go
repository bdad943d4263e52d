package analyze

import (
	"fmt"
	"strings"

	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "sofamily",
	Group:    groupWho,
	Question: "which address families do processes connect and accept with?",
	Help: `Calls of connect(2), and calls of accept(2) that returned a connection, by process and
address family (number and name). An accept has the family of the accepted socket.

The original takes the family from the caller's buffer, so it leaves out calls without a
buffer. It also treats a new descriptor 0 as a failure. --compat does both.`,
	Example: "sofamily --by family,pid",
	Options: []engine.Option{engine.By("comm,family", append(calls.Keys, "type")...), engine.Compat("accepts with a buffer for the address and a descriptor above 0")},
	New: func(in *engine.Input) engine.Fold {
		family, ret, buffer, compat := in.Str("family"), in.Int("ret"), in.Int("peer_buf"), in.Flag("compat")
		own := calls.ResultKeys(in, false)
		own["family"] = engine.KeyDef{render.Num("family", func(r *engine.Row) int64 { return calls.FamilyNumber(r.Str(family)) }),
			render.Text("name", func(r *engine.Row) string { return familyName(r.Str(family)) })}
		keys := in.Keys(own)
		accept, connect := shape.Count(in, "accept", keys.Fields...), shape.Count(in, "connect", keys.Fields...)
		var missed int64
		in.On("sys_connect", func(r *engine.Row) { connect.Add(keys.Of(r), 1) })
		in.On("sys_accept", func(r *engine.Row) {
			if r.Int(ret) < 0 {
				return
			}
			if r.Int(ret) == 0 || r.Int(buffer) == 0 {
				if missed++; compat {
					return
				}
			}
			accept.Add(keys.Of(r), 1)
		})
		return shape.Also(accept, connect, engine.FoldFunc(func(a *render.Answer) {
			switch {
			case missed > 0 && compat:
				a.Note(fmt.Sprintf("--compat: left out %s without a buffer for the address, or with descriptor 0", engine.Plural(missed, "accept", "accepts")))
			case missed > 0:
				a.Note(fmt.Sprintf("%s without a buffer for the address, or with descriptor 0; the original leaves them out (--compat)", engine.Plural(missed, "accept", "accepts")))
			}
		}))
	},
})

// familyName is the name of a family in C, "" if it has none here.
func familyName(name string) string {
	if calls.FamilyNumber(name) < 0 || name == "" || name[0] >= '0' && name[0] <= '9' {
		return ""
	}
	return "AF_" + strings.ToUpper(name)
}
