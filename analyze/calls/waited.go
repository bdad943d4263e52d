package calls

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

// WaitedAccepts calls f for connections that accept(2) took in calls which waited when the
// recording began: the kernel's function shows those only that it entered afterwards.
func WaitedAccepts(in *engine.Input, f engine.Handler) {
	var shown agg.PerSocket[bool]
	dur, ret := in.Int("dur_ns"), in.Int("ret")
	in.Use("tcp_accept_fn", "", func(r *engine.Row) { *shown.Of(r.Sock) = true })
	in.Use("sys_accept", "accepts that waited when the recording began are not seen", func(r *engine.Row) {
		if !r.Has(dur) && r.Int(ret) >= 0 && r.Sock.TCP() && !*shown.Of(r.Sock) {
			f(r)
		}
	})
}
