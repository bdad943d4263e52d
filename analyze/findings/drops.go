package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

var drops = Rule{
	Name: "drops", Default: 5, Unit: Count, Any: []string{"skb_drop"},
	About: "packets dropped for the same reason, without those purged when a socket closes",
	New:   newDrops,
}

// leftOver are reasons that tell of the end of a socket or of a packet that was used.
var leftOver = []string{"QUEUE_PURGE", "CONSUMED", "NOT_DROPPED_YET", "SOCKET_CLOSE", "TCP_CLOSE"}

// purges are functions that empty the queues of a socket that is being closed. Before 6.6
// the kernel gives no reason of their own to what they free.
var purges = []string{"skb_queue_purge", "skb_queue_purge_reason", "skb_rbtree_purge", "sk_stream_kill_queues", "inet_sock_destruct", "udp_destruct_common", "udp_destruct_sock"}

// LeftOver reports whether a reason tells of no loss.
func LeftOver(reason, location string) bool {
	return slices.Contains(leftOver, reason) || Purged(reason, location)
}

// Purged reports a packet that was still in a queue when its socket was closed.
func Purged(reason, location string) bool {
	switch reason {
	case "QUEUE_PURGE", "SOCKET_CLOSE":
		return true
	case "", "NOT_SPECIFIED":
		name, _, _ := strings.Cut(location, "+")
		return slices.Contains(purges, name)
	}
	return false
}

// told reports drops that are no loss of their own: TCP drops what it has already or cannot use, UNIX
// sockets what cannot be connected, and IPv6 multicasts that nobody here joined. What receive-buffer,
// loss, out-of-order and resets judge is theirs.
func told(reason, location, proto string) bool {
	place, _, _ := strings.Cut(location, "+")
	switch {
	case reason == "" || reason == "NOT_SPECIFIED":
		return strings.HasPrefix(place, "tcp_") || strings.HasPrefix(place, "unix_") || place == "ip6_mc_input" || place == "icmpv6_rcv" || place == "igmp6_event_query"
	case reason == "SOCKET_RCVBUFF" || reason == "SOCKET_BACKLOG" || reason == "NO_SOCKET" && proto == "tcp":
		return true
	}
	return strings.HasPrefix(reason, "TCP_") && !strings.Contains(reason, "CSUM") && !strings.Contains(reason, "MD5")
}

// shortage are parts of reasons that mean want of room, or damage.
var shortage = []string{"RCVBUF", "BACKLOG", "NOMEM", "PROTO_MEM", "QUEUE", "QDISC", "FULL", "RING", "LIMIT", "CSUM", "ZEROWINDOW", "OVERFLOW", "NETFILTER"}

// dropped are the packets of one reason.
type dropped struct {
	n, first int64
	places   agg.Top[string]
	who      agg.Top[string]
}

func newDrops(in *engine.Input, limit float64, found *Shelf) func() {
	var reasons agg.Keyed[string, dropped]
	var own agg.Intern
	reason, location, proto := in.Str("drop_reason"), in.Str("location"), in.Str("protocol")
	in.Use("skb_drop", "", func(r *engine.Row) {
		why := r.Str(reason)
		if LeftOver(why, r.Str(location)) || told(why, r.Str(location), r.Str(proto)) {
			return
		}
		d := reasons.At(own.Get(why))
		if d == nil {
			return
		}
		if d.n++; d.n == 1 {
			d.first = r.TS
		}
		d.places.Add(own.Get(r.Str(location)), 1)
		if pid, comm := in.Owner(r); pid != 0 {
			d.who.Add(own.Get(owner(pid, comm)), 1)
		}
	})
	return func() {
		for _, why := range reasons.Sorted(func(d *dropped) int64 { return -d.n }, cmp.Compare[string]) {
			d := reasons.At(why)
			if float64(d.n) < limit {
				return
			}
			found.Add(d.finding(in, why, limit))
		}
	}
}

func (d *dropped) finding(in *engine.Input, why string, limit float64) Finding {
	v := Finding{Level: Note, Over: float64(d.n) / limit, At: d.first, Next: "skbdrop"}
	if slices.ContainsFunc(shortage, func(s string) bool { return strings.Contains(why, s) }) {
		v.Level = Bad
	}
	if strings.Contains(why, "QDISC") || strings.Contains(why, "RING") { // on the way out of this host
		v.Explains = []string{"loss", "retransmit-burst", "retransmit-timeouts", "out-of-order", "slow-answers", "stalled-answers"}
	}
	if why == "" {
		why = "no reason given"
	}
	v.What = fmt.Sprintf("%s dropped: %s", many(d.n, "packet", "packets"), why)
	v.Evidence = "first at " + at(in, d.first)
	for _, e := range d.places.Best(1, cmp.Compare[string]) {
		if e.Key != "" {
			v.Evidence += fmt.Sprintf("; %s at %s", engine.Thousands(e.Count), e.Key)
		}
	}
	for _, e := range d.who.Best(1, cmp.Compare[string]) {
		v.Evidence += fmt.Sprintf("; %s of %s", engine.Thousands(e.Count), e.Key)
	}
	return v
}
