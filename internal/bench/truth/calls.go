package truth

import (
	"fmt"
	"net/netip"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"netrec/internal/bench/vmtest/traffic"
)

// Errors collects what does not agree.
type Errors []string

func (e *Errors) add(format string, args ...any) { *e = append(*e, fmt.Sprintf(format, args...)) }

// want is a row that a logged call must have left.
type want struct {
	what        string
	ret         int64
	fd          int64 // -1: the event has none
	enter, exit int64
	peer        string
	call        *traffic.Call
	receives    bool
}

// errnos by name, as the log writes them.
var errnos = func() map[string]int64 {
	m := map[string]int64{}
	for i := 1; i < 200; i++ {
		if n := unix.ErrnoName(unix.Errno(i)); n != "" {
			m[n] = int64(i)
		}
	}
	return m
}()

func result(c *traffic.Call) int64 {
	if c.Errno != "" {
		return -errnos[c.Errno]
	}
	return int64(c.Return)
}

// wants lists what the calls of the given names must have left, by time. Only the
// thread that made the logged calls is looked at.
func wants(l *traffic.Log, names ...string) []want {
	var out []want
	for _, s := range l.Sockets {
		if s.TID != l.TID {
			continue
		}
		for i := range s.Calls {
			c := &s.Calls[i]
			for _, n := range names {
				if c.Name == n {
					out = append(out, want{what: fmt.Sprintf("%s socket %d: %s", s.Kind, s.Index, c.Name), ret: result(c), fd: int64(c.FD),
						enter: c.Enter, exit: c.Exit, peer: c.Peer, call: c})
				}
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].enter < out[j].enter })
	return out
}

// matchCalls compares rows with calls one by one: same number, same order, same result,
// each within its call.
func matchCalls(event string, rows []Row, wants []want) Errors {
	var errs Errors
	if len(rows) != len(wants) {
		errs.add("%s: %d rows, %d calls were made", event, len(rows), len(wants))
	}
	for i := range min(len(rows), len(wants)) {
		r, w := &rows[i], &wants[i]
		switch {
		case r.TS < w.enter || r.TS > w.exit:
			errs.add("%s row %d: at %d, the call (%s) was from %d to %d", event, i, r.TS, w.what, w.enter, w.exit)
		case r.Int["ret"] != w.ret:
			errs.add("%s row %d (%s): returned %d, the call %d", event, i, w.what, r.Int["ret"], w.ret)
		case w.fd >= 0 && r.Int["fd"] != w.fd:
			errs.add("%s row %d (%s): descriptor %d, the call's was %d", event, i, w.what, r.Int["fd"], w.fd)
		}
		if d, ok := r.Int["dur_ns"]; ok && (d <= 0 || r.TS-d < w.enter) {
			errs.add("%s row %d (%s): %d ns long, the call %d", event, i, w.what, d, w.exit-w.enter)
		}
		if len(errs) > 5 {
			return errs
		}
	}
	return errs
}

// ofThread holds for rows that the logged thread made.
func ofThread(l *traffic.Log) func(*Row) bool { return Num("tid", int64(l.TID)) }

// checkSyscalls holds connect, accept and close against the log, call by call.
func checkSyscalls(c *Capture, l *traffic.Log) Errors {
	connects := c.Select("sys_connect", ofThread(l))
	asked := wants(l, "connect")
	errs := matchCalls("sys_connect", connects, asked)
	for i := range min(len(connects), len(asked)) {
		if a := address(&connects[i], "dest_addr", "dest_port"); asked[i].peer != "" && strings.Contains(asked[i].peer, ":") && a != asked[i].peer {
			errs.add("sys_connect row %d: to %s, the call went to %s", i, a, asked[i].peer)
		}
	}
	for _, r := range c.Select("sys_accept", ofThread(l)) {
		if r.Int["ret"] >= 0 && (r.Str["protocol"] == "" || r.Str["sock_type"] == "") {
			errs.add("sys_accept: a connection without protocol or type: %v", r.Str)
			break
		}
	}
	errs = append(errs, matchCalls("sys_accept", c.Select("sys_accept", ofThread(l)), wants(l, "accept", "accept4"))...)
	closes := c.Select("sys_close", ofThread(l), oneOf("func", "close", "close_range"))
	return append(errs, matchCalls("sys_close", closes, wants(l, "close", "close_range"))...)
}

// address is a row's address and port in the log's form.
func address(r *Row, addr, port string) string {
	a, err := netip.ParseAddr(r.Str[addr])
	if err != nil {
		return ""
	}
	return netip.AddrPortFrom(a, uint16(r.Int[port])).String()
}

var sends = map[string]bool{"sendto": true, "sendmsg": true, "write": true, "writev": true, "sendmmsg": true}
var receives = map[string]bool{"recvfrom": true, "recvmsg": true, "read": true, "readv": true, "recvmmsg": true}

// ofIP holds for sockets of TCP or UDP. A ping socket has the type of UDP's, and no part
// in it.
func ofIP(s *traffic.Socket, typ string) bool {
	return s.Type == typ && s.Family != "unix" && s.Kind != "ping"
}

// ioWants lists what sends and receives on sockets of a type of IP, or of any type and
// family, must have left: the kernel's function runs once a call, once a message of a
// batch, and once more for a batch that ran dry.
func ioWants(l *traffic.Log, typ string) []want {
	var out []want
	for _, s := range l.Sockets {
		if s.TID != l.TID || (typ != "" && !ofIP(s, typ)) {
			continue
		}
		for i := range s.Calls {
			call := &s.Calls[i]
			if !receives[call.Name] && !sends[call.Name] {
				continue
			}
			for _, ret := range returns(call) {
				out = append(out, want{what: fmt.Sprintf("%s socket %d: %s", s.Kind, s.Index, call.Name), ret: ret, fd: -1,
					enter: call.Enter, exit: call.Exit, peer: call.Peer, receives: receives[call.Name]})
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].enter < out[j].enter })
	return out
}

// shown leaves out calls that no row is of, as many as the account says were not seen: from 7.0
// on the kernel passes over calls while another task is within the same probe on that CPU.
func shown(rows []Row, wants []want, unseen int) (out []want) {
	next := 0
	for _, w := range wants {
		if missing := next >= len(rows) || rows[next].TS > w.exit; missing && unseen > 0 {
			unseen--
			continue
		}
		out, next = append(out, w), next+1
	}
	return out
}

// checkIO holds every send and receive against the log, by the rows of an event.
func checkIO(c *Capture, l *traffic.Log, event string) Errors {
	rows := c.Select(event, ofThread(l))
	steps := shown(rows, ioWants(l, ""), nested(c, event))
	errs := matchCalls(event, rows, steps)
	for i := range min(len(rows), len(steps)) {
		if (rows[i].Str["dir"] == "recv") != steps[i].receives {
			errs.add("%s row %d (%s): %s", event, i, steps[i].what, rows[i].Str["dir"])
		}
	}
	return errs
}

// returns is what the kernel's send or receive function returned inside a call.
func returns(c *traffic.Call) []int64 {
	if c.Messages == nil {
		return []int64{result(c)}
	}
	var out []int64
	for _, m := range c.Messages {
		out = append(out, int64(m))
	}
	for len(out) < c.Tries {
		out = append(out, -errnos["EAGAIN"])
	}
	return out
}
