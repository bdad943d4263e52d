package findings

import (
	"cmp"
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

var loss = Rule{
	Name: "loss", Default: 2, Unit: Percent, Any: []string{"tcp_retrans"},
	About:    "share of the segments to one peer that are retransmitted, or of its connections, by how many segments these have",
	Explains: []string{"retransmit-burst", "retransmit-timeouts", "slow-connects", "out-of-order", "slow-answers", "stalled-answers"},
	New:      newLoss,
}

const (
	lossSegs  = 5    // segments that must be retransmitted: fewer may be chance
	lossConns = 4    // connections that must be affected, for the share of connections
	perConn   = 5    // segments that a connection has at least: so many times more connections than segments are affected
	usualMSS  = 1448 // payload of a segment on Ethernet, to estimate the segments of open connections
	manyPeers = 3    // with loss on one port: then the port is named, not the peers
)

// sending is what a connection sent.
type sending struct {
	again, syn  int64  // segments, SYNs retransmitted
	rows        int64  // segments that came
	silent      uint32 // segment that was sent again last
	heard       int64  // segments that had come then
	first, last uint32
	since       int64
	segs        int64 // as the kernel counts at the end; 0 if it did not
	up          bool  // the handshake ended
}

// lossy are the connections with one peer, or on one local port.
type lossy struct {
	conns, hit, syns, segs, again int64
	first                         int64
	sock                          agg.Socket // the one that lost most
	most                          int64
	peers                         agg.Top[string] // with loss
}

// losing counts segments and those retransmitted.
type losing struct {
	in    *engine.Input
	socks agg.PerSocket[sending]
	peers agg.Keyed[string, lossy]
	ports agg.Keyed[int64, lossy]
	names agg.Intern
	again *engine.Resent
	twice *spurious

	SndNxt, SndUna, SegsOut, TcpSeq scan.Int
	State, NewState                 scan.Str
}

func newLoss(in *engine.Input, limit float64, found *Shelf) func() {
	f := &losing{in: in, again: in.Resent(), twice: found.flows.repeats()}
	in.Bind(f)
	in.Use("tcp_state", "", f.change)
	in.Use("tcp_rcv_est", "", f.segment)
	in.Use("tcp_retrans", "", f.retrans)
	in.OnEnd(f.ended)
	return func() { f.judge(limit, found) }
}

func (f *losing) change(r *engine.Row) {
	v := f.socks.Of(r.Sock)
	if v.up = v.up || r.Str(f.NewState) == "ESTABLISHED"; r.Has(f.SegsOut) && r.Str(f.NewState) == "CLOSE" {
		v.segs = r.Int(f.SegsOut)
	}
}

func (f *losing) segment(r *engine.Row) {
	v := f.socks.Of(r.Sock)
	if v.rows++; v.rows == 1 {
		v.first = uint32(r.Int(f.SndUna))
	}
	v.last, v.up = uint32(r.Int(f.SndNxt)), true
}

func (f *losing) retrans(r *engine.Row) {
	n := f.again.Segments(r)
	if r.Sock == nil || n == 0 {
		return
	}
	v := f.socks.Of(r.Sock)
	if v.since == 0 {
		v.since = r.TS
	}
	switch r.Str(f.State) {
	case "SYN_SENT", "SYN_RECV":
		v.syn += n
	default:
		if !f.sameSilence(r, v) {
			v.again += n
		}
	}
}

// sameSilence reports whether the segment was sent again before, and nothing came since. A path that
// is dead eats every repeat of one segment, which is not the loss of so many.
func (f *losing) sameSilence(r *engine.Row, v *sending) bool {
	if !r.Has(f.TcpSeq) {
		return false
	}
	seq := uint32(r.Int(f.TcpSeq))
	same := v.again > 0 && v.silent == seq && v.heard == v.rows
	v.silent, v.heard = seq, v.rows
	return same
}

// sent is how many segments a connection sent during the recording, or about as many.
func (v *sending) sent(s *agg.Socket) int64 {
	if v.segs > 0 && !s.Older {
		return v.segs
	}
	return max(v.rows, int64(v.last-v.first)/usualMSS, 1) + v.again
}

func (f *losing) ended(s *agg.Socket) {
	v := f.socks.Of(s)
	if !v.up || !s.Tuple() {
		return // a connect without an answer is no loss but a peer that is not there
	}
	if f.twice.byRows(s) {
		v.again = 0 // nor is a peer that was busy
	}
	f.peers.At(f.names.Get(s.Raddr)).add(s, v)
	if s.Serves() {
		f.ports.At(s.Lport).add(s, v)
	}
}

func (l *lossy) add(s *agg.Socket, v *sending) {
	if l == nil {
		return
	}
	l.conns++
	l.segs += v.sent(s) + v.syn
	l.again += v.again + v.syn
	if v.again+v.syn == 0 {
		return
	}
	if l.hit++; v.syn > 0 {
		l.syns++
	}
	if l.first == 0 || v.since < l.first {
		l.first = v.since
	}
	if v.again+v.syn > l.most {
		l.most, l.sock = v.again+v.syn, *s
	}
	l.peers.Add(s.Raddr, 1)
}

// over is how many times the threshold the loss is, 0 if it is too little to tell.
func (l *lossy) over(limit float64) (over float64) {
	if l.again >= lossSegs {
		over = 100 * float64(l.again) / float64(l.segs) / limit
	}
	if l.hit >= lossConns {
		over = max(over, 100*float64(l.hit)/float64(l.conns)/limit/max(perConn, float64(l.segs)/float64(l.conns)))
	}
	if over < 1 {
		return 0
	}
	return over
}

func (f *losing) judge(limit float64, found *Shelf) {
	if f.twice.byCounters() {
		return // a busy host, not a network that loses
	}
	told := map[string]bool{}
	for _, port := range f.ports.Sorted(func(l *lossy) int64 { return -l.again }, cmp.Compare[int64]) {
		l := f.ports.At(port)
		peers := l.peers.Best(manyPeers+1, cmp.Compare[string])
		if over := l.over(limit); over > 0 && len(peers) > manyPeers {
			for _, e := range l.peers.Best(agg.MaxKeys, cmp.Compare[string]) {
				told[e.Key] = true
			}
			v := f.finding(l, fmt.Sprintf("from port %d to its peers", port), over)
			v.Peer, v.Port, v.About, v.Next = "", port, fmt.Sprint("port ", port), fmt.Sprint("tcpretrans --port ", port)
			found.Add(v)
		}
	}
	for _, peer := range f.peers.Sorted(func(l *lossy) int64 { return -l.again }, cmp.Compare[string]) {
		if l := f.peers.At(peer); !told[peer] && l.over(limit) > 0 {
			found.Add(f.finding(l, "to "+peer, l.over(limit)))
		}
	}
}

func (f *losing) finding(l *lossy, where string, over float64) Finding {
	v := Finding{Level: Bad, Over: over, At: l.first, Next: show("tcpretrans", &l.sock)}.of(&l.sock)
	v.About = where
	if l.hit > 1 {
		v.Next = "tcpretrans --addr " + l.sock.Raddr
	}
	v.What = fmt.Sprintf("packets %s are lost: %.1f %% of the segments were retransmitted, on %s of %s", where, 100*float64(l.again)/float64(l.segs),
		engine.Thousands(l.hit), many(l.conns, "connection", "connections"))
	said := []string{fmt.Sprintf("%s of about %s %s since %s", engine.Thousands(l.again), engine.Thousands(l.segs), f.again.Noun(l.segs), at(f.in, l.first))}
	if l.syns > 0 {
		said = append(said, many(l.syns, "handshake", "handshakes")+" needed another SYN")
	}
	if l.conns > 1 {
		said = append(said, fmt.Sprintf("most on %s: %s", subject(&l.sock), engine.Thousands(l.most)))
	}
	v.Evidence = strings.Join(said, "; ")
	return v
}
