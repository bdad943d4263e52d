package findings

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

var outOfOrder = Rule{
	Name: "out-of-order", Default: 2, Unit: Percent, Any: []string{"tcp_rcv_est"}, Counters: []string{"TcpExtTCPOFOQueue"},
	About:    "share of the segments from one peer that come out of order, lost or reordered before this host; data that stays missing always counts",
	Explains: []string{"retransmit-burst", "slow-answers", "stalled-answers"},
	New:      newOutOfOrder,
}

// disorderLeast is how many segments must come out of order: fewer may be chance.
const disorderLeast = 20

// A segment and its retransmissions may all be lost by chance, on one connection and for a while.
const (
	stuckLeast = 2   // connections
	stuckFor   = 2e9 // ns on one
)

// disorder is how the segments of one peer came.
type disorder struct {
	all, gaps, again int64 // with data; with data missing before them; that repeat data
	first            int64
	sock             agg.Socket // one with a gap

	stuck, longest, biggest int64      // connections with a hole that stayed open; for how long; biggest segment on them
	worst                   agg.Socket // with the longest
}

func newOutOfOrder(in *engine.Input, limit float64, found *Shelf) func() {
	var peers agg.Keyed[string, disorder]
	var own agg.Intern
	size, gap := in.Int("payload_bytes"), in.Int("seq_gap_bytes")
	known, missing := false, found.flows.missing()
	in.Use("tcp_rcv_est", "", func(r *engine.Row) {
		if r.Sock == nil || !r.Has(gap) {
			return
		}
		known = true
		d := peers.At(own.Get(r.Sock.Raddr))
		if d == nil || r.Int(size) <= 0 {
			return
		}
		switch d.all++; {
		case r.Int(gap) < 0:
			d.again++
		case r.Int(gap) > 0:
			if d.gaps++; d.gaps == 1 {
				d.first, d.sock = r.TS, *r.Sock
			}
		}
	})
	in.OnEnd(func(s *agg.Socket) {
		if h := missing.of(s); h.length() >= silentFor {
			peers.At(own.Get(s.Raddr)).add(s, h)
		}
	})
	return func() {
		if !known {
			countedDisorder(in, limit, found)
		}
		for _, peer := range peers.Sorted(func(d *disorder) int64 { return -d.gaps }, cmp.Compare[string]) {
			d := peers.At(peer)
			if d.stuck >= stuckLeast || d.longest >= stuckFor {
				found.Add(d.stuckFinding(in, peer))
				continue
			}
			if share := 100 * float64(d.gaps) / float64(max(d.all, 1)); d.gaps >= disorderLeast && share >= limit {
				found.Add(d.finding(in, peer, share, limit))
			}
		}
	}
}

func (d *disorder) finding(in *engine.Input, peer string, share, limit float64) Finding {
	v := Finding{Level: Slow, Over: share / limit, At: d.first, Next: show("sock", &d.sock)}.of(&d.sock)
	v.About = peer
	v.What = fmt.Sprintf("packets from %s come out of order or are lost before this host: %.1f %% of the segments came after a gap", peer, share)
	v.Evidence = fmt.Sprintf("%s of %s, first at %s; %s repeated data", engine.Thousands(d.gaps), many(d.all, "segment", "segments"), at(in, d.first), engine.Thousands(d.again))
	return v
}

func (d *disorder) add(s *agg.Socket, h *hole) {
	if d == nil {
		return
	}
	d.stuck++
	d.biggest = max(d.biggest, h.biggest)
	if h.length() > d.longest {
		d.longest, d.worst, d.first = h.length(), *s, h.since
	}
}

func (d *disorder) stuckFinding(in *engine.Input, peer string) Finding {
	v := Finding{Level: Bad, Over: float64(d.stuck), At: d.first, Next: show("sock", &d.worst)}.of(&d.worst)
	v.About = peer
	v.What = fmt.Sprintf("data from %s is lost before this host: %s waited up to %s for it, while later segments came", peer, many(d.stuck, "connection", "connections"), span(d.longest))
	v.Evidence = fmt.Sprintf("longest from %s on %s", at(in, d.first), subject(&d.worst))
	if d.biggest < bigSegment {
		v.Evidence += fmt.Sprintf("; no segment with more than %d bytes came: check the path MTU", d.biggest)
	}
	return v
}

// countedDisorder judges by the kernel's counters, where the rows do not tell.
func countedDisorder(in *engine.Input, limit float64, found *Shelf) {
	n, all := grown(in, "TcpExtTCPOFOQueue"), grown(in, "TcpInSegs")
	share := 100 * float64(n) / float64(max(all, 1))
	if n < disorderLeast || share < limit {
		return
	}
	found.Add(Finding{Level: Slow, Over: share / limit, Next: "tcptop",
		What:     fmt.Sprintf("packets come out of order or are lost before this host: %.1f %% of the segments came after a gap", share),
		Evidence: fmt.Sprintf("%s of %s, %s: it does not name connections", engine.Thousands(n), many(all, "segment", "segments"), byCounter(in, "TCPOFOQueue"))})
}
