package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

// packetFlow is the way of a packet: its source and destination.
type packetFlow struct {
	saddr, daddr string
	sport, dport int64
}

// lostHere is what this host dropped of a flow and TCP has not sent again yet.
type lostHere struct {
	bytes int64
	why   string
}

// maxFlows is how many flows with drops are remembered.
const maxFlows = 1 << 16

// losses remembers the TCP packets that this host itself dropped, so that a segment
// sent again can be told from one that was lost elsewhere.
type losses struct {
	flows map[packetFlow]lostHere
	names agg.Intern

	saddr, daddr, sport, dport  scan.Col
	length, protocol, reason, l scan.Col
}

func newLosses(in *engine.Input) *losses {
	f := &losses{flows: map[packetFlow]lostHere{}, saddr: in.Str("saddr"), daddr: in.Str("daddr"), sport: in.Int("sport"), dport: in.Int("dport"),
		length: in.Int("len_bytes"), protocol: in.Str("protocol"), reason: in.Str("drop_reason"), l: in.Str("location")}
	in.Use("skb_drop", "drops on this host are not told from losses elsewhere", f.drop)
	return f
}

func (f *losses) drop(r *engine.Row) {
	if r.Str(f.protocol) != "tcp" {
		return
	}
	k := packetFlow{f.names.Get(r.Str(f.saddr)), f.names.Get(r.Str(f.daddr)), r.Int(f.sport), r.Int(f.dport)}
	l, ok := f.flows[k]
	if !ok && len(f.flows) >= maxFlows {
		clear(f.flows)
	}
	if l.why = r.Str(f.reason); l.why == "" {
		l.why = r.Str(f.l)
	}
	l.why = f.names.Get(l.why)
	l.bytes += max(1, r.Int(f.length))
	f.flows[k] = l
}

// claim says why this host dropped the bytes that are sent again, "" if it did not. The
// packet that was dropped had headers, and may have been many segments.
func (f *losses) claim(k packetFlow, bytes int64) string {
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
