package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

// ioEvent is the event that has a row for each call. Stacks are recorded by one of its own.
func ioEvent(in *engine.Input) string {
	if in.ByStack() {
		return "sock_stack"
	}
	return "sock_io"
}

// sendCompat is the option of analyses whose original hooks sock_sendmsg.
var sendCompat = engine.Compat("leave out sends, which the original's hook misses on current kernels")

// sends tells apart what such an original would have seen.
type sends struct {
	dir    scan.Col
	compat bool
	n      int64
}

func newSends(in *engine.Input) *sends { return &sends{dir: in.Str("dir"), compat: in.Flag("compat")} }

// counted reports whether a row of sock_io counts.
func (s *sends) counted(r *engine.Row) bool {
	if r.Str(s.dir) != "send" {
		return true
	}
	s.n++
	return !s.compat
}

// Finish tells the rules apart.
func (s *sends) Finish(a *render.Answer) {
	shape.NoteRules(a, s.n, s.compat, "--compat: left out "+engine.Plural(s.n, "send", "sends"),
		engine.Plural(s.n, "send", "sends")+"; the original (--compat) sees none that a program made")
}
