package analyze

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// msgSizes makes the analysis of how much a protocol's send or receive functions moved.
type msgSizes struct {
	event, dir string
	name       string // of the map
	v4         string // the only function that the original hooks; "" if there is one for both families
}

func (m msgSizes) of(a engine.Analysis) engine.Analysis {
	a.Group = groupMuch
	rule := "the size asked for, failed calls too"
	if m.dir == "recv" {
		rule = "errors as if they were sizes, MSG_PEEK counted"
	}
	if m.v4 != "" {
		rule += ", IPv4 only"
	}
	a.Options = []engine.Option{engine.By("", append([]string{"func", "tid"}, engine.SocketKeys...)...), engine.Compat(rule)}
	a.New = m.fold
	return a
}

func (m msgSizes) fold(in *engine.Input) engine.Fold {
	ret, asked, flags, dir, function, compat := in.Int("ret"), in.Int("asked_bytes"), in.Int("msg_flags"), in.Str("dir"), in.Str("func"), in.Flag("compat")
	keys := in.Keys(nil)
	sizes := histOf[engine.Key](in, m.name, "bytes", keys.Columns...)
	var right, original, differ, failed int64
	in.On(m.event, func(r *engine.Row) {
		if r.Str(dir) != m.dir {
			return
		}
		n := r.Int(ret)
		ours, theirs := n, n
		if m.dir == "send" && r.Has(asked) {
			theirs = r.Int(asked)
		}
		if m.dir == "recv" && n < 0 {
			theirs = int64(uint32(n)) // an int in a register of 64 bits, read without a sign
		}
		if m.dir == "recv" && r.Int(flags)&msgPeek != 0 {
			ours = -1
		} else if n < 0 {
			failed++
		}
		if m.v4 != "" && r.Str(function) != m.v4 {
			theirs = -1
		}
		if ours >= 0 {
			right++
		}
		if theirs >= 0 {
			original++
		}
		if ours != theirs && (ours >= 0 || theirs >= 0) {
			differ++
		}
		if compat {
			ours = theirs
		}
		if ours >= 0 {
			sizes.Add(keys.Of(r), ours)
		}
	})
	return also(sizes, engine.FoldFunc(func(a *render.Answer) {
		if failed > 0 && !compat {
			a.Note(plural(failed, "call that returned an error is", "calls that returned an error are") + " not counted")
		}
		if differ == 0 {
			return
		}
		rule, other, n, m := "right rule", "the original's (--compat)", right, original
		if compat {
			rule, other, n, m = "original rule", "the right one", original, right
		}
		a.Note(fmt.Sprintf("%s: %s; %s has %s, and the two differ in %s", rule, plural(n, "value", "values"), other, engine.Group(m), plural(differ, "call", "calls")))
	}))
}
