package truth

import (
	"netrec/internal/bench/vmtest/traffic"
)

// both sums a counter over the two ends of the link, which may be one namespace.
func both(l *traffic.Log, name string) int {
	n := l.Counters[traffic.A].Delta(name)
	if l.Namespaces[traffic.A].Inode != l.Namespaces[traffic.B].Inode {
		n += l.Counters[traffic.B].Delta(name)
	}
	return n
}

// ofRun holds for rows of the traffic's time and namespaces.
func ofRun(l *traffic.Log) func(*Row) bool {
	a, b := int64(l.Namespaces[traffic.A].Inode), int64(l.Namespaces[traffic.B].Inode)
	return func(r *Row) bool {
		return r.TS >= l.Begin && r.TS <= l.End && (r.Int["netns"] == a || r.Int["netns"] == b)
	}
}

// dropsOfRun is ofRun for drops. A datagram that its socket's queue refused has lost its
// device by then, and before 6.12 its socket is not told with the drop.
func dropsOfRun(l *traffic.Log) func(*Row) bool {
	run := ofRun(l)
	return func(r *Row) bool {
		return run(r) || r.Int["netns"] == 0 && r.TS >= l.Begin && r.TS <= l.End
	}
}

// checkCounters holds rows against what the kernel itself counted.
func checkCounters(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	run, tcp := ofRun(l), Is("protocol", "tcp")
	for _, k := range []struct {
		counter string
		rows    []Row
	}{
		{"Tcp.ActiveOpens", c.Select("tcp_state", run, tcp, Is("old_state", "CLOSE"), Is("new_state", "SYN_SENT"))},
		{"Tcp.PassiveOpens", c.Select("tcp_state", run, tcp, Is("old_state", "LISTEN"), Is("new_state", "SYN_RECV"))},
	} {
		if n := both(l, k.counter); n != len(k.rows) || n == 0 {
			errs.add("tcp_state: %d rows, the kernel counted %d in %s", len(k.rows), n, k.counter)
		}
	}
	return append(append(errs, checkRetrans(c, l)...), checkDrops(c, l)...)
}

// checkRetrans holds retransmitted segments against the kernel's count of them. A buffer of
// several is one row. What the network layer refused is counted too, and told after 6.12 only.
func checkRetrans(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	segments := 0
	for _, r := range c.Select("tcp_retrans", ofRun(l), func(r *Row) bool { e, ok := r.Int["err"]; return !ok || e == 0 }) {
		segments += int(r.Int["retrans_segs"])
	}
	synacks := len(c.Select("tcp_synack_retrans", ofRun(l))) // counted, and an event of their own
	if n := both(l, "Tcp.RetransSegs") - synacks - both(l, "TcpExt.TCPRetransFail"); n != segments || l.Netem && n == 0 {
		errs.add("tcp_retrans: rows of %d segments, the kernel counted %d", segments, n)
	}
	probes, repeated := c.Select("tcp_tlp", ofRun(l), Num("probe_sent", 1)), 0
	for _, r := range probes {
		repeated += int(r.Int["retrans_segs"])
	}
	if l := c.Select("tcp_retrans", ofRun(l), Is("retrans_kind", "L")); len(l) != repeated {
		errs.add("tcp_retrans: %d rows are of loss probes, %d probes repeated data", len(l), repeated)
	}
	return errs
}

// checkDrops holds drops of UDP against the kernel's counters. Kernels before 5.17 give
// no reason; there the function that dropped stands for it.
func checkDrops(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	udp := Is("protocol", "udp")
	hasReason := len(c.Select("skb_drop", func(r *Row) bool { return r.Str["drop_reason"] != "" })) > 0
	for _, k := range []struct{ reason, v4, v6 string }{
		{"NO_SOCKET", "Udp.NoPorts", "Udp6NoPorts"},
		{"SOCKET_RCVBUFF", "Udp.RcvbufErrors", "Udp6RcvbufErrors"},
		{"PROTO_MEM", "", ""},
	} {
		n := both(l, k.v4) + both(l, k.v6)
		if k.v4 == "" {
			n = memoryErrors(l)
		} else if n == 0 {
			errs.add("traffic made no %s", k.v4)
		}
		if !hasReason {
			continue
		}
		if rows := c.Select("skb_drop", dropsOfRun(l), udp, Is("drop_reason", k.reason)); len(rows) != n {
			errs.add("skb_drop: %d rows with reason %s, the kernel counted %d", len(rows), k.reason, n)
		}
	}
	if !hasReason {
		n := both(l, "Udp.NoPorts") + both(l, "Udp6NoPorts") + both(l, "Udp.RcvbufErrors") + both(l, "Udp6RcvbufErrors") + memoryErrors(l)
		for _, q := range l.Queues {
			n += q.Dropped // of datagrams too
		}
		for _, t := range l.Tunnels {
			n += t.Unfit
		}
		if rows := c.Select("skb_drop", dropsOfRun(l), udp); len(rows) != n {
			errs.add("skb_drop: %d rows of UDP, the kernel counted %d drops", len(rows), n)
		}
	}
	return errs
}

// memoryErrors is how many datagrams found no memory for all of UDP, by the count of the
// socket that was filled: 5.10 has no counter of the protocol for it, and 6.18 forgets it.
func memoryErrors(l *traffic.Log) int {
	n := 0
	for _, s := range l.Select("memory", "full") {
		n += s.Drops
	}
	return n
}

// checkMemory holds sockets that were refused memory against what the kernel counted and
// what was sent into the full one.
func checkMemory(c *Capture, l *traffic.Log) Errors {
	if !l.Machine {
		return nil // the limit is the whole machine's and was not touched
	}
	var errs Errors
	rows := c.Select("sock_exceed_buf_limit", ofRun(l), Is("protocol", "udp"), Is("dir", "recv"))
	if n := memoryErrors(l); len(rows) != n || n != l.Wanted["overmemory"] {
		errs.add("sock_exceed_buf_limit: %d rows, the kernel counted %d, %d were sent", len(rows), n, l.Wanted["overmemory"])
	}
	for _, r := range rows {
		if r.Int["mem_allocated_pages"] <= 0 || r.Int["mem_max_pages"] != 0 || r.Int["sk_rmem_alloc"] <= 0 || r.Str["prot_name"] != "UDP" {
			errs.add("sock_exceed_buf_limit: a row that cannot be: %v %v", r.Int, r.Str)
			break
		}
	}
	return errs
}
