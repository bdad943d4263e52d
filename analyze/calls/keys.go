package calls

import (
	"slices"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

// Keys are the keys offered for system calls on sockets.
var Keys = slices.Clip(append([]string{"errno", "ret", "func", "tid", "second"}, engine.SocketKeys...))

// ResultKeys are the keys that the return value of a call gives: errno and ret, each with
// the name of the error unless bare.
func ResultKeys(in *engine.Input, bare bool) map[string]engine.KeyDef {
	ret := in.Int("ret")
	key := func(column string, number func(int64) int64) engine.KeyDef {
		d := engine.KeyDef{render.Num(column, func(r *engine.Row) int64 { return number(r.Int(ret)) })}
		if bare {
			return d
		}
		return append(d, render.TextOr("error", func(r *engine.Row) string {
			if r.Int(ret) >= 0 {
				return "ok"
			}
			return render.ErrnoName(-r.Int(ret))
		}))
	}
	return map[string]engine.KeyDef{"ret": key("ret", func(n int64) int64 { return n }), "errno": key("errno", func(n int64) int64 { return max(-n, 0) })}
}

// Count counts the rows of an event by the keys asked for.
func Count(event string) func(*engine.Input) engine.Fold {
	return func(in *engine.Input) engine.Fold {
		return countRows(in, ResultKeys(in, false), func(h engine.Handler) { in.On(event, h) })
	}
}

// CountMsgs is Count for the sends and receives of a protocol.
func CountMsgs(event string) func(*engine.Input) engine.Fold {
	return func(in *engine.Input) engine.Fold {
		m, defs := newMsgCalls(in, event), ResultKeys(in, false)
		defs["func"] = m.key()
		return countRows(in, defs, func(h engine.Handler) { m.on(in, h) })
	}
}

func countRows(in *engine.Input, defs map[string]engine.KeyDef, on func(engine.Handler)) engine.Fold {
	ret, keys := in.Int("ret"), in.Keys(defs)
	counts := shape.Count(in, "calls", keys.Fields...)
	counts.Table.Unnamed = true
	var failed int64
	on(func(r *engine.Row) {
		if counts.Add(keys.Of(r), 1); r.Int(ret) < 0 {
			failed++
		}
	})
	return shape.Also(counts, engine.FoldFunc(func(a *render.Answer) {
		if failed > 0 {
			a.Note(engine.Plural(failed, "call", "calls") + " returned an error, included in the counts; --by errno shows which")
		}
	}))
}
