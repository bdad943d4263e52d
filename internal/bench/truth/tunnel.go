package truth

import (
	"netrec/internal/bench/vmtest/traffic"
)

// sighting is a packet with a mark at one place: which of its headers has it, and whether
// there is a header inside at all.
type sighting struct {
	dev, stage, mark string
	carries          bool
}

// checkTunnels follows marked packets from one end of each tunnel to the other: each row must
// be one that the traffic explains, with the addresses of both headers.
func checkTunnels(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	for _, t := range l.Tunnels {
		seen := map[sighting]int{}
		for _, r := range c.Select("ip_ecn", ofRun(l), Between(t.Begin, t.End)) {
			s := sighting{r.Str["dev"], r.Str["stage"], markedHeaders(&r), r.Str["inner_family"] != ""}
			seen[s]++
			if wrong := wrongEnds(&r, &t, s.carries); wrong != "" {
				errs.add("ip_ecn: tunnel %s: a row with wrong %s: %v %v", t.Kind, wrong, r.Int, r.Str)
			}
		}
		for s, n := range sightings(&t) {
			if seen[s] != n {
				errs.add("ip_ecn: tunnel %s: %d rows like %+v, want %d", t.Kind, seen[s], s, n)
			}
			delete(seen, s)
		}
		for s, n := range seen {
			errs.add("ip_ecn: tunnel %s: %d rows like %+v, which nothing explains", t.Kind, n, s)
		}
		if n := len(c.Select("skb_drop", dropsOfRun(l), Between(t.Begin, t.End), Num("dport", tunnelPort))); n != t.Unfit {
			errs.add("skb_drop: tunnel %s: %d rows, %d packets could not take the mark", t.Kind, n, t.Unfit)
		}
	}
	return errs
}

// sightings are how often which packet passes which place. What the sender marked loses the
// mark on the outer header (RFC 6040 has it capable there), and the end of the tunnel puts a mark
// of the outer header on the inner one.
func sightings(t *traffic.Tunnel) map[sighting]int {
	all := map[sighting]int{}
	marked := func(dev, stage string) {
		all[sighting{dev, stage, "inner", true}] = t.InnerMarked
		all[sighting{dev, stage, "outer", true}] = t.OuterMarked + t.Unfit
		all[sighting{dev, stage, "both", true}] = t.BothMarked
	}
	marked(t.From, "started")
	marked(t.To, "received")
	if t.Handmade {
		marked(t.From, "queued")
		return all
	}
	sender := t.InnerMarked + t.BothMarked
	for _, stage := range []string{"queued", "started"} {
		all[sighting{t.Device, stage, "outer", false}] = sender
	}
	all[sighting{t.From, "queued", "inner", true}] = sender
	all[sighting{t.From, "queued", "outer", true}] = t.Unfit
	all[sighting{t.Device, "received", "outer", false}] = sender + t.OuterMarked
	return all
}

// markedHeaders names the headers of a row that have the mark.
func markedHeaders(r *Row) string {
	inner, ok := r.Int["inner_tos"]
	switch {
	case outerMarked(r) && ok && inner&3 == 3:
		return "both"
	case outerMarked(r):
		return "outer"
	case ok && inner&3 == 3:
		return "inner"
	}
	return "none"
}

// outerMarked holds for rows whose outermost header has the mark, as the kernel counts it.
func outerMarked(r *Row) bool { return r.Int["tos"]&3 == 3 }

// wrongEnds names the header whose addresses, ports or protocol are not the traffic's.
func wrongEnds(r *Row, t *traffic.Tunnel, carries bool) string {
	if carries {
		if r.Str["saddr"] != t.Outer[0] || r.Str["daddr"] != t.Outer[1] || r.Str["protocol"] != t.Protocol || r.Int["dport"] != int64(t.Port) {
			return "outer ends"
		}
		if r.Str["inner_saddr"] != t.Inner[0] || r.Str["inner_daddr"] != t.Inner[1] || r.Str["inner_protocol"] != "udp" || r.Int["inner_dport"] != tunnelPort || r.Int["inner_sport"] == 0 {
			return "inner ends"
		}
		return ""
	}
	if r.Str["saddr"] != t.Inner[0] || r.Str["daddr"] != t.Inner[1] || r.Int["dport"] != tunnelPort || r.Str["inner_saddr"]+r.Str["inner_daddr"] != "" {
		return "ends"
	}
	return ""
}

// tunnelPort is where the traffic sends datagrams inside tunnels.
const tunnelPort = 7123
