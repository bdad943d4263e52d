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

	saddr, daddr, sport, dport, skb scan.Col
	length, protocol, reason, l     scan.Col
	kind, why                       scan.Col
}

func newLosses(in *engine.Input) *losses {
	f := &losses{flows: map[packets.Flow]lostHere{}, saddr: in.Str("saddr"), daddr: in.Str("daddr"), sport: in.Int("sport"), dport: in.Int("dport"),
		length: in.Int("len_bytes"), protocol: in.Str("protocol"), reason: in.Str("drop_reason"), l: in.Str("location"),
		skb: in.Int("skb"), kind: in.Str("qdisc_kind"), why: in.Str("qdisc_drop_reason"), told: in.Recorded("skb_drop")}
	in.Use("skb_drop", "drops on this host are not told from losses elsewhere", f.drop)
	if in.Recorded("skb_drop") {
		in.Use("qdisc_drop", "", func(r *engine.Row) { f.queues.Begin(r.Uint(f.skb), f.qdisc(r)) })
	} else {
		in.Use("qdisc_drop", "", func(r *engine.Row) {
			if s := r.Sock; s.TCP() {
				f.add(packets.Flow{Saddr: s.Laddr, Daddr: s.Raddr, Sport: s.Lport, Dport: s.Rport}, r.Int(f.length), f.qdisc(r))
			}
		})
	}
	return f
}

func (f *losses) drop(r *engine.Row) {
	if r.Str(f.protocol) != "tcp" {
		return
	}
	// A discipline says of a packet first why it drops it, then that it is freed.
	why, ok := f.queues.End(r.Uint(f.skb))
	if !ok {
		why = f.names.Get(cmp.Or(r.Str(f.reason), r.Str(f.l)))
	}
	f.add(packets.Flow{Saddr: f.names.Get(r.Str(f.saddr)), Daddr: f.names.Get(r.Str(f.daddr)), Sport: r.Int(f.sport), Dport: r.Int(f.dport)}, r.Int(f.length), why)
}

// qdisc is which discipline dropped a packet, and why.
func (f *losses) qdisc(r *engine.Row) string {
	return f.names.Get(strings.TrimSpace(r.Str(f.kind) + " " + r.Str(f.why)))
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
