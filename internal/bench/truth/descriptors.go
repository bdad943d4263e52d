package truth

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netrec/internal/bench/vmtest/traffic"
)

// oneOf holds for rows whose string column has one of the values.
func oneOf(col string, values ...string) func(*Row) bool {
	return func(r *Row) bool { return slices.Contains(values, r.Str[col]) }
}

// ofSocket holds for rows that have a socket; the runtime of the traffic's program uses
// descriptors of its own too.
func ofSocket(r *Row) bool { return r.Int["sock"] != 0 }

// match is matchCalls with a further look at each pair.
func match(event string, rows []Row, ws []want, same func(*Row, *want) string) Errors {
	errs := matchCalls(event, rows, ws)
	if len(ws) == 0 {
		errs.add("%s: the traffic made no such call", event)
	}
	for i := range min(len(rows), len(ws)) {
		if s := same(&rows[i], &ws[i]); s != "" && len(errs) < 5 {
			errs.add("%s row %d (%s): %s: %v %v", event, i, ws[i].what, s, rows[i].Int, rows[i].Str)
		}
	}
	return errs
}

// checkMakers holds socket, socketpair, bind and listen against the log.
func checkMakers(c *Capture, l *traffic.Log) Errors {
	// A pair is in the log once for each end.
	made := slices.CompactFunc(wants(l, "socket", "socketpair"), func(a, b want) bool { return a.enter == b.enter })
	errs := match("sys_socket", c.Select("sys_socket", ofThread(l)), made, func(r *Row, w *want) string {
		_, second := r.Int["fd2"]
		if pair := w.call.Name == "socketpair"; r.Str["func"] != w.call.Name || second != pair || r.Int["sock"] == 0 || (r.Int["peer_sock"] != 0) != pair {
			return "not that call"
		}
		return ""
	})
	errs = append(errs, match("sys_bind", c.Select("sys_bind", ofThread(l)), wants(l, "bind"), func(r *Row, w *want) string {
		if strings.Contains(w.peer, ":") && address(r, "bind_addr", "bind_port") != w.peer {
			return "the call asked for " + w.peer
		}
		inet := r.Str["family"] != "unix"
		if r.Str["bind_opts"] != w.call.Opts || r.Int["bound_ifindex"] != int64(w.call.Device) || r.Int["uid"] != int64(w.call.UID) {
			return fmt.Sprintf("the socket had %s and device %d, and user %d called", w.call.Opts, w.call.Device, w.call.UID)
		}
		noPort := strings.Contains(w.call.Opts, "bind_address_no_port") && r.Int["bind_port"] == 0
		if bound := r.Int["lport"] != 0; inet && (bound != (w.ret == 0 && !noPort) || r.Int["bind_port"] != 0 && bound && r.Int["lport"] != r.Int["bind_port"]) {
			return "the port does not fit the result"
		}
		return ""
	})...)
	return append(errs, match("sys_listen", c.Select("sys_listen", ofThread(l)), wants(l, "listen"), func(r *Row, w *want) string {
		asked, got := int64(w.call.Asked), r.Int["sk_max_ack_backlog"]
		if r.Int["backlog"] != asked || got > asked || got < min(asked, 128) {
			return "the backlog is wrong" // somaxconn is never below 128
		}
		return ""
	})...)
}

var waiting = []string{"poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"}

// notRuntime leaves out what Go's runtime asks on any thread: epoll_pwait with room for
// 128 events, which the traffic never has.
func notRuntime(r *Row) bool { return r.Str["func"] != "epoll_pwait" || r.Int["nfds"] != 128 }

// checkWaits holds the calls that wait for descriptors, and what they found, against the log.
func checkWaits(c *Capture, l *traffic.Log) Errors {
	ws := wants(l, waiting...)
	for i := range ws {
		ws[i].fd = -1
	}
	errs := match("sys_poll", c.Select("sys_poll", ofThread(l), notRuntime), ws, func(r *Row, w *want) string {
		switch {
		case r.Str["func"] != w.call.Name || r.Int["timeout_ns"] != timeout(w.call):
			return "not that call"
		case !listed(r.Str["fds"], w.call.Watched) || !listed(r.Str["ready"], w.call.Ready):
			return "the call had " + w.call.Watched + ", ready " + w.call.Ready
		}
		return ""
	})
	return append(errs, match("sys_epoll_ctl", c.Select("sys_epoll_ctl", ofThread(l), ofSocket), wants(l, "epoll_ctl"), func(r *Row, w *want) string {
		_, events, _ := strings.Cut(w.call.Watched, ":")
		op := []string{"", "ADD", "DEL", "MOD"}[w.call.Flags]
		if r.Str["epoll_op"] != op || r.Str["epoll_events"] != events || (op != "DEL" && r.Int["epoll_data"] != 7<<32|r.Int["fd"]) {
			return "the call asked for " + op + " " + events
		}
		return ""
	})...)
}

// timeout is what the call can say: some take whole milliseconds, some microseconds.
func timeout(c *traffic.Call) int64 {
	switch c.Name {
	case "poll", "epoll_wait", "epoll_pwait":
		return c.Timeout / 1e6 * 1e6
	case "select":
		return c.Timeout / 1e3 * 1e3
	}
	return c.Timeout
}

// listed compares a list of descriptors with the log's, which is not cut.
func listed(got, full string) bool {
	const most = 16
	if n := strings.Count(full, ",") + 1; n > most {
		cut := strings.Split(full, ",")[:most]
		return got == strings.Join(cut, ",")+",+"+strconv.Itoa(n-most)
	}
	return got == full
}

// checkCopies holds dup and its kind against the log, with the closes that they imply, and
// each child process with its beginning and end.
func checkCopies(c *Capture, l *traffic.Log) Errors {
	ways := []string{"dup", "dup2", "dup3", "fcntl"}
	ws := wants(l, ways...)
	rows := c.Select("fd_dup", ofThread(l), oneOf("func", ways...))
	for i := range rows {
		rows[i].Int["ret"] = rows[i].Int["fd_new"]
	}
	errs := match("fd_dup", rows, ws, func(r *Row, w *want) string {
		if r.Str["func"] != w.call.Name || r.Int["sock"] == 0 {
			return "not that call"
		}
		return ""
	})
	covered := 0
	for _, s := range l.Select("dup", "covered") {
		if !slices.ContainsFunc(s.Calls, func(c traffic.Call) bool { return c.Name == "close" }) {
			covered++
		}
	}
	if n := len(c.Select("sys_close", ofThread(l), ofSocket, oneOf("func", "dup2", "dup3"))); n != covered || n == 0 {
		errs.add("sys_close: %d rows of dup2 and dup3, which replaced %d sockets", n, covered)
	}
	for _, k := range l.Lookups {
		born := c.Select("fd_dup", Is("func", "fork"), Num("child_pid", int64(k.PID)), Num("fds_shared", 0), ofThread(l))
		if len(born) != 1 || born[0].TS < k.Begin || born[0].TS > k.End {
			errs.add("fd_dup: %d rows of the start of process %d", len(born), k.PID)
		}
		ended := c.Select("sys_close", Is("func", "exit"), Num("pid", int64(k.PID)))
		if len(ended) != 1 || ended[0].TS < k.Begin || ended[0].TS > k.End || ended[0].Int["fd_last"] != 1<<31-1 {
			errs.add("sys_close: %d rows of the end of process %d", len(ended), k.PID)
		}
	}
	return errs
}

// checkReadWrite holds the calls that read and write sockets against the log.
func checkReadWrite(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	for event, names := range map[string]map[string]bool{"sys_read": receives, "sys_write": sends} {
		var list []string
		for n := range names {
			list = append(list, n)
		}
		errs = append(errs, match(event, c.Select(event, ofThread(l)), wants(l, list...), func(r *Row, w *want) string {
			if r.Str["func"] != w.call.Name || r.Int["sock"] == 0 {
				return "not that call"
			}
			return ""
		})...)
	}
	return errs
}

// checkReceiveQueues holds packets that found a queue full against what the kernel counted for
// the sockets that were filled on purpose.
func checkReceiveQueues(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	want := 0
	for _, s := range l.Select("ping", "full") {
		want += s.Drops
	}
	rows := c.Select("sock_rcvqueue_full", ofRun(l), Is("protocol", "icmp"))
	if len(rows) != want || want == 0 {
		errs.add("sock_rcvqueue_full: %d rows, the kernel counted %d", len(rows), want)
	}
	for _, r := range rows {
		if r.Int["skb"] == 0 || r.Int["truesize_bytes"] < 1001 || r.Int["sk_rmem_alloc"] < r.Int["sk_rcvbuf"] {
			errs.add("sock_rcvqueue_full: a row that cannot be: %v %v", r.Int, r.Str)
			break
		}
	}
	return append(errs, checkDatagramQueues(c, l)...)
}

// checkDatagramQueues holds datagrams that found a queue full against the kernel's counter.
// Each has the socket, on kernels too that do not name it when they drop the packet.
func checkDatagramQueues(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	inUDP, counted := phaseOf(c, l, "udp")
	owned := func(r *Row) bool {
		return r.Int["sock"] != 0 && r.Int["lport"] != 0 && r.Int["sk_rmem_alloc"] > 0 && r.Int["sk_rcvbuf"] > 0
	}
	want := counted("Udp.RcvbufErrors")
	if n := inUDP("sock_rcvqueue_full", Is("func", "udp_queue_rcv_skb"), Is("protocol", "udp"), owned); n != want || want == 0 {
		errs.add("sock_rcvqueue_full of UDP: %d rows, the kernel counted %d", n, want)
	}
	return errs
}
