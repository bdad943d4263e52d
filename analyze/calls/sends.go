package calls

import (
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

// IOEvent is the event that has a row for each call. Stacks are recorded by one of its own.
func IOEvent(in *engine.Input) string {
	if in.ByStack() {
		return "sock_stack"
	}
	return "sock_io"
}

// SendCompat is the option of analyses whose original hooks sock_sendmsg.
var SendCompat = engine.Compat("leave out sends, which the original's hook misses on current kernels")

// Sends tells apart what such an original would have seen.
type Sends struct {
	compat bool
	n      int64

	Dir scan.Str
}

// NewSends reads the option --compat.
func NewSends(in *engine.Input) *Sends {
	f := &Sends{compat: in.Flag("compat")}
	in.Bind(f)
	return f
}

// Counted reports whether a row of sock_io counts.
func (s *Sends) Counted(r *engine.Row) bool {
	if r.Str(s.Dir) != "send" {
		return true
	}
	s.n++
	return !s.compat
}

// Finish tells the rules apart.
func (s *Sends) Finish(a *render.Answer) {
	shape.NoteRules(a, s.n, s.compat, "--compat: left out "+engine.Plural(s.n, "send", "sends"),
		engine.Plural(s.n, "send", "sends")+"; the original (--compat) sees none that a program made")
}
