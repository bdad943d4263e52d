package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/turns"
)

// waitKeys tell connections apart by what is known of their socket, not by who was on the CPU.
var waitKeys = map[string]engine.KeyDef{
	"service": textOf("service", turns.Service),
	"process": textOf("process", turns.Process),
	"comm":    textOf("comm", func(s *agg.Socket) string { return s.Comm }),
	"cgroup":  textOf("cgroup", func(s *agg.Socket) string { return s.Cgroup }),
	"peer":    textOf("peer", func(s *agg.Socket) string { return s.Raddr }),
	"pid":     numberOf("pid", func(s *agg.Socket) int64 { return s.Pid }),
	"netns":   numberOf("netns", func(s *agg.Socket) int64 { return s.Netns }),
}

func textOf(name string, of func(*agg.Socket) string) engine.KeyDef {
	return engine.KeyDef{render.TextOr(name, func(r *engine.Row) string { return of(r.Sock) })}
}

func numberOf(name string, of func(*agg.Socket) int64) engine.KeyDef {
	return engine.KeyDef{render.NonZero(name, func(r *engine.Row) int64 { return of(r.Sock) })}
}
