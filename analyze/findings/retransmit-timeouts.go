package findings

import (
	"cmp"
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

var retransmitTimeouts = Rule{
	Name: "retransmit-timeouts", Default: 3, Unit: Count, Any: []string{"tcp_cong_state"}, Counters: []string{"TcpExtTCPTimeouts"},
	About:    "retransmission timeouts of connections with one peer; one that is awaited counts",
	Explains: []string{"retransmit-burst", "slow-connects", "slow-answers", "stalled-answers"},
	New:      newRetransmitTimeouts,
}

// bigSegment is a payload, in bytes, that a path with a smaller MTU than Ethernet's may refuse.
const bigSegment = 1200

// silentFor is how long a connection must have been without an answer, ns. The first timeout comes after
// 200 ms or more, the second twice as long later: a shorter silence was over after one.
const silentFor = 600e6

// silence is how a connection waits for an ACK.
type silence struct {
	up, shut  bool  // the handshake ended; one side closed, and segments are not recorded any more
	heard     int64 // when the newest segment came, or the handshake ended
	since     int64 // timeouts since then; 0 if none
	timeouts  int64
	longest   int64
	seq       uint32 // of what was retransmitted
	same, big int64  // retransmissions of that, and how many of them were big
}

// silent are the connections with one peer that ran into timeouts.
type silent struct {
	n, conns, first int64
	waiting         int64 // connections that had no answer yet when they or the recording ended
	longest, big    int64
	sock            agg.Socket
}

// timing follows timeouts.
type timing struct {
	in    *engine.Input
	socks agg.PerSocket[silence]
	peers agg.Keyed[string, silent]
	names agg.Intern
	twice *spurious

	TcpSeq, LenBytes, RetransSegs scan.Int
	CaState, NewState             scan.Str
}

func newRetransmitTimeouts(in *engine.Input, limit float64, found *Shelf) func() {
	f := &timing{in: in, twice: found.flows.repeats()}
	in.Bind(f)
	in.Use("tcp_state", "", f.state)
	in.Use("tcp_rcv_est", "", f.heard)
	in.Use("tcp_cong_state", "", f.timeout)
	in.Use("tcp_retrans", "", f.retrans)
	in.OnEnd(f.ended)
	return func() { f.judge(limit, found) }
}

func (f *timing) state(r *engine.Row) {
	switch r.Str(f.NewState) {
	case "ESTABLISHED":
		f.heard(r)
	case "CLOSE_WAIT": // by a segment of the peer
		f.heard(r)
		f.socks.Of(r.Sock).shut = true
	case "FIN_WAIT1":
		v := f.socks.Of(r.Sock)
		v.quiet(r.TS)
		v.shut = true
	}
}

func (f *timing) heard(r *engine.Row) {
	v := f.socks.Of(r.Sock)
	v.quiet(r.TS)
	v.up, v.heard, v.since = true, r.TS, 0
}

// quiet notes how long nothing has come by now, if there were timeouts.
func (v *silence) quiet(now int64) {
	if v.since != 0 {
		v.longest = max(v.longest, now-v.since)
	}
}

func (f *timing) timeout(r *engine.Row) {
	v := f.socks.Of(r.Sock)
	if r.Sock == nil || r.Str(f.CaState) != "loss" || !v.up && !r.Sock.Older {
		return
	}
	if v.timeouts++; v.since == 0 {
		v.since = cmp.Or(v.heard, r.TS)
	}
	v.quiet(r.TS)
	if p := f.peers.At(f.names.Get(r.Sock.Raddr)); p != nil && p.first == 0 {
		p.first = r.TS
	}
}

func (f *timing) retrans(r *engine.Row) {
	v := f.socks.Of(r.Sock)
	if seq := uint32(r.Int(f.TcpSeq)); seq != v.seq {
		v.seq, v.same, v.big = seq, 0, 0
	}
	if v.same++; r.Int(f.LenBytes)/max(1, r.Int(f.RetransSegs)) >= bigSegment {
		v.big++
	}
}

func (f *timing) ended(s *agg.Socket) {
	v := f.socks.Of(s)
	if v.timeouts == 0 || f.twice.byRows(s) {
		return
	}
	waiting := v.since != 0 && !v.shut
	if waiting && s.Open {
		v.quiet(f.in.End())
	}
	p := f.peers.At(f.names.Get(s.Raddr))
	if p == nil {
		return
	}
	if waiting {
		p.waiting++
	}
	p.n += v.timeouts
	if p.conns++; v.longest >= p.longest {
		p.longest, p.sock = v.longest, *s
	}
	if v.big == v.same && v.same > 1 {
		p.big++
	}
}

// heavy is what is held against the threshold. A connection that waits is on its way to the next timeout, and
// each takes twice as long as the one before.
func (p *silent) heavy() float64 { return float64(p.n + p.waiting) }

func (f *timing) judge(limit float64, found *Shelf) {
	if f.twice.byCounters() {
		return
	}
	for _, peer := range f.peers.Sorted(func(p *silent) int64 { return -p.n }, cmp.Compare[string]) {
		if p := f.peers.At(peer); p.heavy() >= limit && p.longest >= silentFor {
			found.Add(f.finding(peer, p, limit))
		}
	}
	if n := grown(f.in, "TcpExtTCPTimeouts"); !f.in.Recorded("tcp_cong_state") && float64(n) >= limit {
		found.Add(Finding{Level: Bad, Over: float64(n) / limit, What: many(n, "retransmission timeout", "retransmission timeouts") + " on this host",
			Evidence: byCounter(f.in, "TCPTimeouts") + ": this recording does not show which connections", Next: "tcpretrans"})
	}
}

func (f *timing) finding(peer string, p *silent, limit float64) Finding {
	v := Finding{Level: Bad, Over: p.heavy() / limit, At: p.first, Next: show("sock", &p.sock)}.of(&p.sock)
	v.About = peer
	v.What = fmt.Sprintf("%s did not acknowledge in time: %s on %s, no answer for up to %s", peer,
		many(p.n, "retransmission timeout", "retransmission timeouts"), many(p.conns, "connection", "connections"), span(p.longest))
	said := []string{"first at " + at(f.in, p.first), "longest on " + subject(&p.sock)}
	if p.waiting > 0 {
		said = append(said, many(p.waiting, "connection", "connections")+" had no answer to the end")
	}
	if p.big > 0 {
		said = append(said, fmt.Sprintf("on %s only full-sized segments were retransmitted: check the path MTU", many(p.big, "connection", "connections")))
	}
	v.Evidence = strings.Join(said, "; ")
	return v
}
