package truth

import (
	"fmt"
	"slices"
	"sort"

	"golang.org/x/sys/unix"

	"netrec/internal/bench/vmtest/traffic"
)

// phaseOf gives a kind's rows of an event, and what the kernel's counter says of both
// ends together.
func phaseOf(c *Capture, l *traffic.Log, kind string) (rows func(event string, when ...func(*Row) bool) int, count func(counter string) int) {
	var p traffic.Phase
	for _, q := range l.Phases {
		if q.Kind == kind {
			p = q
		}
	}
	rows = func(event string, when ...func(*Row) bool) int {
		return len(c.Select(event, append(when, ofRun(l), Between(p.Begin, p.End))...))
	}
	count = func(counter string) int {
		n := p.Delta[traffic.A][counter]
		if l.Namespaces[traffic.A].Inode != l.Namespaces[traffic.B].Inode {
			n += p.Delta[traffic.B][counter]
		}
		return n
	}
	return rows, count
}

// equation is two numbers that must agree.
type equation struct {
	event, what string
	rows, want  int
}

// checkEquations leaves out events that the kernel cannot show.
func checkEquations(want Expect, all []equation) Errors {
	var errs Errors
	for _, e := range all {
		if e.rows != e.want && !slices.Contains(want.Missing, e.event) {
			errs.add("%s: %d rows, %s: %d", e.event, e.rows, e.what, e.want)
		}
	}
	return errs
}

// checkHandshakes holds listeners' queues, SYN-ACKs and loss probes against the kernel's
// counters.
func checkHandshakes(c *Capture, l *traffic.Log, want Expect) Errors {
	run := ofRun(l)
	inBacklog, counted := phaseOf(c, l, "backlog")
	inTCP, countedTCP := phaseOf(c, l, "tcp")
	full := func(r *Row) bool { return r.Int["sk_ack_backlog"] > r.Int["sk_max_ack_backlog"] }
	made := func(r *Row) bool { return r.Int["sock"] != 0 }
	synAgain := inBacklog("tcp_retrans", Is("state", "SYN_SENT"))
	errs := checkEquations(want, []equation{
		{"tcp_synack_retrans", "TcpExt.TCPSynRetrans without SYNs", inBacklog("tcp_synack_retrans"), counted("TcpExt.TCPSynRetrans") - synAgain},
		{"tcp_syn_arrive", "TcpExt.ListenOverflows", inBacklog("tcp_syn_arrive", full), counted("TcpExt.ListenOverflows")},
		{"tcp_syn_arrive", "Tcp.PassiveOpens", inTCP("tcp_syn_arrive"), countedTCP("Tcp.PassiveOpens")},
		{"tcp_syn_recv", "Tcp.PassiveOpens", len(c.Select("tcp_syn_recv", run, made)), both(l, "Tcp.PassiveOpens")},
		{"tcp_tlp", "TcpExt.TCPLossProbes", len(c.Select("tcp_tlp", run, Num("probe_sent", 1))), both(l, "TcpExt.TCPLossProbes")},
	})
	if n, least := inBacklog("tcp_synack_retrans", Is("retrans_kind", "S")), l.Wanted["synack"]; n < least && !slices.Contains(want.Missing, "tcp_synack_retrans") {
		errs.add("tcp_synack_retrans: %d rows, %d handshakes had to wait", n, least)
	}
	return errs
}

// checkResets holds resets against the kernel's counter and the log.
func checkResets(c *Capture, l *traffic.Log, want Expect) Errors {
	sent, received := Is("dir", "send"), Is("dir", "recv")
	inTCP, _ := phaseOf(c, l, "tcp")
	inRST, _ := phaseOf(c, l, "rst")
	noEnd := func(r *Row) bool { return r.Int["rport"] == 0 || r.Str["raddr"] == "" || r.Str["raddr"] == "0.0.0.0" }
	nobody := func(r *Row) bool { return r.Int["sock"] == 0 && r.Int["rport"] != 0 && r.Str["laddr"] != "" }
	return checkEquations(want, []equation{
		{"tcp_reset", "Tcp.OutRsts", len(c.Select("tcp_reset", ofRun(l), sent)), both(l, "Tcp.OutRsts")},
		{"tcp_reset", "resets sent to nowhere", len(c.Select("tcp_reset", ofRun(l), sent, noEnd)), 0},
		{"tcp_reset", "resets by hand", inRST("tcp_reset", received), l.Wanted["resets"]},
		{"tcp_reset", "refused connects", inTCP("tcp_reset", received), l.Wanted["refused"]},
		{"tcp_reset", "SYNs for nobody", inTCP("tcp_reset", sent, nobody, Num("lport", 7199)), l.Wanted["refused"]},
		{"tcp_cong_state", "TcpExt.TCP{Sack,Reno}Recovery", len(c.Select("tcp_cong_state", ofRun(l), Is("ca_state", "recovery"))),
			both(l, "TcpExt.TCPSackRecovery") + both(l, "TcpExt.TCPRenoRecovery")},
	})
}

// checkErrors holds errors that sockets got against those that calls of the traffic returned.
func checkErrors(c *Capture, l *traffic.Log, want Expect) Errors {
	refused, reset := Num("sk_err", int64(unix.ECONNREFUSED)), Num("sk_err", int64(unix.ECONNRESET))
	connected := func(r *Row) bool { return r.Int["rport"] != 0 }
	inTCP, _ := phaseOf(c, l, "tcp")
	inRST, _ := phaseOf(c, l, "rst")
	return checkEquations(want, []equation{
		{"sock_error", "refused connects", inTCP("sock_error", Is("protocol", "tcp"), refused), l.Wanted["refused"]},
		{"sock_error", "other errors", inTCP("sock_error", func(r *Row) bool { return !refused(r) }), 0},
		{"sock_error", "connections that were reset", inRST("sock_error", reset, connected), l.Wanted["resets"]},
		{"sock_error", "sockets that reset and forgot their peer", inRST("sock_error", reset, Num("rport", 0)), (l.Wanted["resets"] + 1) / 2},
		{"sock_error", "receives that returned ECONNREFUSED", len(c.Select("sock_error", ofRun(l), Is("protocol", "udp"), refused)), l.Count("recvfrom", "ECONNREFUSED")},
	})
}

// ipWants lists what calls on sockets of IP and one type must have left inside the
// protocol; a descriptor as result counts as success.
func ipWants(l *traffic.Log, typ string, names ...string) []want {
	var out []want
	for _, s := range l.Sockets {
		if s.TID != l.TID || !ofIP(s, typ) {
			continue
		}
		for i := range s.Calls {
			c := &s.Calls[i]
			if !slices.Contains(names, c.Name) {
				continue
			}
			out = append(out, want{what: fmt.Sprintf("%s socket %d: %s", s.Kind, s.Index, c.Name), ret: min(result(c), 0), fd: -1,
				enter: c.Enter, exit: c.Exit, peer: c.Peer, call: c})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].enter < out[j].enter })
	return out
}

// checkProtocolCalls holds what TCP and UDP were asked to do against the log.
func checkProtocolCalls(c *Capture, l *traffic.Log, owed Expect) Errors {
	connects := ipWants(l, "stream", "connect")
	for i := range connects {
		connects[i].ret = 0 // how it ends is known later
	}
	var errs Errors
	for _, k := range []struct {
		event string
		wants []want
	}{
		{"tcp_connect_fn", connects},
		{"tcp_accept_fn", ipWants(l, "stream", "accept", "accept4")},
		{"udp_connect", ipWants(l, "dgram", "connect")},
		{"tcp_msg", ioWants(l, "stream")},
		{"udp_msg", ioWants(l, "dgram")},
	} {
		if slices.Contains(owed.Missing, k.event) {
			continue
		}
		rows := c.Select(k.event, ofThread(l))
		errs = append(errs, matchCalls(k.event, rows, k.wants)...)
		errs = append(errs, matchPeers(k.event, rows, k.wants)...)
	}
	errs = append(errs, checkUsers(c, l, connects, owed)...)
	return append(errs, checkEnded(c, l, owed)...)
}

// checkUsers: a connect has the user that made it, in either event that begins one.
func checkUsers(c *Capture, l *traffic.Log, connects []want, owed Expect) Errors {
	sameUser := func(r *Row, w *want) string {
		if uid, ok := r.Int["uid"]; !ok || uid != int64(w.call.UID) {
			return fmt.Sprintf("user %d made the call", w.call.UID)
		}
		return ""
	}
	errs := match("tcp_state", c.Select("tcp_state", ofThread(l), Is("new_state", "SYN_SENT")), connects, sameUser)
	if !slices.Contains(owed.Missing, "tcp_connect_fn") {
		errs = append(errs, match("tcp_connect_fn", c.Select("tcp_connect_fn", ofThread(l)), connects, sameUser)...)
	}
	others := func(r *Row) bool { _, ok := r.Int["uid"]; return ok && r.Str["new_state"] != "SYN_SENT" }
	if n := len(c.Select("tcp_state", others)); n > 0 {
		errs.add("tcp_state: %d rows have a user though nobody connects", n)
	}
	return errs
}

// checkEnded: each UDP socket came to its end once, whichever of its descriptors was the
// last and however that was closed.
func checkEnded(c *Capture, l *traffic.Log, owed Expect) Errors {
	if slices.Contains(owed.Missing, "udp_gone") {
		return nil
	}
	var errs Errors
	made, ended := 0, c.Select("udp_gone", ofThread(l))
	for _, s := range l.Sockets {
		if s.TID == l.TID && ofIP(s, "dgram") {
			made++
		}
	}
	if len(ended) != made || made == 0 {
		errs.add("udp_gone: %d rows, %d sockets were made and closed", len(ended), made)
	}
	lives := map[int64]int{} // an address serves one socket at a time
	for _, r := range c.Select("sys_socket", ofThread(l)) {
		lives[r.Int["sock"]]++
	}
	for _, r := range ended {
		if lives[r.Int["sock"]]--; lives[r.Int["sock"]] < 0 {
			errs.add("udp_gone: socket %#x ended once more than it was made", r.Int["sock"])
			break
		}
	}
	return errs
}

// matchPeers compares the addresses given to connects and sends, and those that
// receives reported, where the log has them.
func matchPeers(event string, rows []Row, wants []want) Errors {
	var errs Errors
	for i := range min(len(rows), len(wants)) {
		a := address(&rows[i], "dest_addr", "dest_port")
		switch {
		case event != "udp_connect" && event != "udp_msg", wants[i].peer == "":
			continue
		case rows[i].Str["dir"] == "recv":
			a = address(&rows[i], "peer_addr", "peer_port")
		}
		if a != wants[i].peer {
			errs.add("%s row %d (%s): peer %q, the call's was %q", event, i, wants[i].what, a, wants[i].peer)
		}
	}
	return errs
}
