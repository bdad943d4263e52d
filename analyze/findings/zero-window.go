package findings

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

// The default is beyond what a reader that is merely busy needs for its next turn on a CPU.
var zeroWindow = Rule{
	Name: "zero-window", Default: 50e6, Unit: Duration, Any: []string{"tcp_rcv_est"},
	About:    "time that a connection has a zero window, its own or the peer's",
	Explains: []string{"receive-buffer", "retransmit-burst", "send-buffer", "slow-answers", "stalled-answers"},
	New:      newZeroWindow,
}

// window is one side's window of a connection.
type window struct {
	shut        bool
	since       int64 // shut since then
	times       int64
	longest, at int64
}

// see takes the window that stood until now; before is when the one row earlier came,
// whose segment has made it so.
func (w *window) see(size, before, now int64) {
	if size == 0 && !w.shut {
		w.shut, w.since = true, before
		w.times++
	}
	if !w.shut {
		return
	}
	// The segment of this row comes before the window opens, if it does.
	if ns := now - w.since; size == 0 && ns > w.longest {
		w.longest, w.at = ns, w.since
	}
	if size != 0 {
		w.shut = false
	}
}

// windows are both sides'.
type windows struct {
	last        int64
	peers, ours window
}

func newZeroWindow(in *engine.Input, limit float64, found *Shelf) func() {
	var socks agg.PerSocket[windows]
	snd, rcv := in.Int("snd_wnd"), in.Int("rcv_wnd")
	in.Use("tcp_rcv_est", "", func(r *engine.Row) {
		if r.Sock == nil {
			return
		}
		w := socks.Of(r.Sock)
		before := w.last
		if before == 0 {
			before = r.TS
		}
		w.peers.see(r.Int(snd), before, r.TS)
		w.ours.see(r.Int(rcv), before, r.TS)
		w.last = r.TS
	})
	in.OnEnd(func(s *agg.Socket) {
		w := socks.Of(s)
		add := func(v *window, who string) {
			if v.longest > 0 && float64(v.longest) >= limit {
				found.Add(Finding{Level: Slow, Over: float64(v.longest) / limit, At: v.at,
					What:     fmt.Sprintf("%s stalled for up to %s: %s advertised a zero window", subject(s), span(v.longest), who),
					Evidence: fmt.Sprintf("zero window %s, longest from %s", many(v.times, "time", "times"), at(in, v.at)),
					Next:     show("sock", s)}.of(s))
			}
		}
		add(&w.peers, "the peer")
		add(&w.ours, "this side")
	})
	return func() {}
}
