package truth

import (
	"netrec/internal/bench/vmtest/traffic"
)

// checkMarks holds packets marked for congestion against what was sent and against
// what the kernel counted; only those that a queue marked are not seen before it.
func checkMarks(c *Capture, l *traffic.Log, want Expect) Errors {
	rows, _ := phaseOf(c, l, "ecn")
	received := func(family string) int {
		return len(c.Select("ip_ecn", ofRun(l), Is("stage", "received"), Is("family", family), outerMarked))
	}
	sent := l.Wanted["ce4"] + l.Wanted["ce6"]
	marked := sent
	if l.Netem {
		marked += l.Wanted["marked"]
	}
	return checkEquations(want, []equation{
		{"ip_ecn", "IpExt.InCEPkts", received("inet"), both(l, "IpExt.InCEPkts")},
		{"ip_ecn", "Ip6InCEPkts", received("inet6"), both(l, "Ip6InCEPkts")},
		{"ip_ecn", "marked by the sender", rows("ip_ecn", Is("stage", "queued"), Num("dport", 7121), Is("protocol", "udp")), sent},
		{"ip_ecn", "marked by the sender or the queue", rows("ip_ecn", Is("stage", "started"), Is("dir", "send")), marked},
	})
}

// checkEchoes holds echo requests and replies, each sent and received once, against
// the kernel's counters.
func checkEchoes(c *Capture, l *traffic.Log, want Expect) Errors {
	var all []equation
	for _, k := range []struct {
		family, dir string
		typ         int64
		counter     string
		sent        int
	}{
		{"inet", "send", 8, "Icmp.OutEchos", l.Wanted["echo4"]},
		{"inet", "recv", 8, "Icmp.InEchos", l.Wanted["echo4"]},
		{"inet", "send", 0, "Icmp.OutEchoReps", l.Wanted["echo4"]},
		{"inet", "recv", 0, "Icmp.InEchoReps", l.Wanted["echo4"]},
		{"inet6", "send", 128, "Icmp6OutEchos", l.Wanted["echo6"]},
		{"inet6", "recv", 128, "Icmp6InEchos", l.Wanted["echo6"]},
		{"inet6", "send", 129, "Icmp6OutEchoReplies", l.Wanted["echo6"]},
		{"inet6", "recv", 129, "Icmp6InEchoReplies", l.Wanted["echo6"]},
	} {
		seen := map[int64]bool{}
		rows := c.Select("icmp_echo", ofRun(l), Is("family", k.family), Is("dir", k.dir), Num("icmp_type", k.typ))
		for _, r := range rows {
			if r.Int["icmp_id"] == 0x7a11 {
				seen[r.Int["icmp_seq"]] = true
			}
		}
		all = append(all, equation{"icmp_echo", k.counter, len(rows), both(l, k.counter)},
			equation{"icmp_echo", "sequence numbers of " + k.counter, len(seen), k.sent})
	}
	return checkEquations(want, all)
}
