package analyze

import (
	"cmp"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/packets"
	"netrec/analyze/scan"
)

// lostHere is what this host dropped of a flow and TCP has not sent again yet.
type lostHere struct {
	bytes int64
	why   string
}

// losses remembers the TCP packets that this host itself dropped, so that a segment
// sent again can be told from one that was lost elsewhere.
type losses struct {
	flows  map[packets.Flow]lostHere
	queues agg.Pending[uint64, string] // packets that a discipline drops, and why
	names  agg.Intern
	told   bool // the recording has drops of every kind

	Sport, Dport, Skb, LenBytes                                              scan.Int
	Saddr, Daddr, Protocol, DropReason, Location, QdiscKind, QdiscDropReason scan.Str
}

func newLosses(in *engine.Input) *losses {
	f := &losses{flows: map[packets.Flow]lostHere{}, told: in.Recorded("skb_drop")}
	in.Bind(f)
	in.Use("skb_drop", "drops on this host are not told from losses elsewhere", f.drop)
	if in.Recorded("skb_drop") {
		in.Use("qdisc_drop", "", func(r *engine.Row) { f.queues.Begin(r.Uint(f.Skb), f.qdisc(r)) })
	} else {
		in.Use("qdisc_drop", "", func(r *engine.Row) {
			if s := r.Sock; s.TCP() {
				f.add(packets.Flow{Saddr: s.Laddr, Daddr: s.Raddr, Sport: s.Lport, Dport: s.Rport}, r.Int(f.LenBytes), f.qdisc(r))
			}
		})
	}
	return f
}

func (f *losses) drop(r *engine.Row) {
	if r.Str(f.Protocol) != "tcp" {
		return
	}
	// A discipline says of a packet first why it drops it, then that it is freed.
	why, ok := f.queues.End(r.Uint(f.Skb))
	if !ok {
		why = f.names.Get(cmp.Or(r.Str(f.DropReason), r.Str(f.Location)))
	}
	f.add(packets.Flow{Saddr: f.names.Get(r.Str(f.Saddr)), Daddr: f.names.Get(r.Str(f.Daddr)), Sport: r.Int(f.Sport), Dport: r.Int(f.Dport)}, r.Int(f.LenBytes), why)
}

// qdisc is which discipline dropped a packet, and why.
func (f *losses) qdisc(r *engine.Row) string {
	return f.names.Get(strings.TrimSpace(r.Str(f.QdiscKind) + " " + r.Str(f.QdiscDropReason)))
}

func (f *losses) add(k packets.Flow, bytes int64, why string) {
	l, ok := f.flows[k]
	if !ok && len(f.flows) >= agg.MaxFlows {
		clear(f.flows)
	}
	f.flows[k] = lostHere{l.bytes + max(1, bytes), why}
}

// claim says why this host dropped the bytes that are sent again, "" if it did not. The
// packet that was dropped had headers, and may have been many segments.
func (f *losses) claim(k packets.Flow, bytes int64) string {
	l, ok := f.flows[k]
	if !ok {
		return ""
	}
	if l.bytes -= max(1, bytes); l.bytes > headerRoom {
		f.flows[k] = l
	} else {
		delete(f.flows, k)
	}
	return l.why
}

// headerRoom is more than the headers of one TCP packet take.
const headerRoom = 120
