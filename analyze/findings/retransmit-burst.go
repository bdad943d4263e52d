package findings

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

var retransmitBurst = Rule{
	Name: "retransmit-burst", Default: 5, Unit: Count, Any: []string{"tcp_retrans"},
	About: "segments that a socket retransmits within a second",
	New:   newRetransmitBurst,
}

// burst is the second with most retransmissions of a socket.
type burst struct {
	from, now      int64 // the second under way: its beginning, and how many segments
	best, bestFrom int64
	all            int64
	low            int64 // smallest congestion window
}

func newRetransmitBurst(in *engine.Input, limit float64, found *Shelf) func() {
	var socks agg.PerSocket[burst]
	cwnd, again, twice := in.Int("snd_cwnd"), in.Resent(), found.flows.repeats()
	in.Use("tcp_retrans", "", func(r *engine.Row) {
		if r.Sock == nil {
			return
		}
		n := again.Segments(r)
		if n == 0 {
			return
		}
		b := socks.Of(r.Sock)
		if b.now == 0 || r.TS-b.from >= 1e9 {
			b.from, b.now = r.TS, 0
		}
		if b.now += n; b.now > b.best {
			b.best, b.bestFrom = b.now, b.from
		}
		if w := r.Int(cwnd); b.all == 0 || w < b.low {
			b.low = w
		}
		b.all += n
	})
	in.OnEnd(func(s *agg.Socket) {
		b := socks.Of(s)
		if float64(b.best) < limit || twice.byCounters() || twice.byRows(s) { // an end that answers late is no loss
			return
		}
		found.Add(Finding{Level: Bad, Over: float64(b.best) / limit, At: b.bestFrom,
			What:     fmt.Sprintf("%s retransmitted %s %s within a second", subject(s), engine.Thousands(b.best), again.Noun(b.best)),
			Evidence: fmt.Sprintf("from %s; %s in total, congestion window down to %d", at(in, b.bestFrom), engine.Thousands(b.all), b.low),
			Next:     show("tcpretrans", s)}.of(s))
	})
	return func() {}
}
