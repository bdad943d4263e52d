package findings

import (
	"cmp"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// owner is the process of a socket.
func owner(pid int64, comm string) string {
	if pid == 0 {
		return "an unknown process"
	}
	return fmt.Sprintf("%s (%d)", comm, pid)
}

// subject names a socket by its owner and ends.
func subject(s *agg.Socket) string {
	who := owner(s.Pid, s.Comm)
	switch {
	case s.Laddr == "":
		return fmt.Sprintf("%s, socket 0x%x,", who, s.Addr)
	case s.Rport == 0:
		return who + " " + render.Endpoint(s.Laddr, s.Lport)
	}
	return who + " " + render.Endpoint(s.Laddr, s.Lport) + " > " + render.Endpoint(s.Raddr, s.Rport)
}

// service names what a connection is for: the local port where it was accepted, else the
// remote end.
func service(s *agg.Socket) string {
	if s.Serves() {
		return fmt.Sprintf("port %d", s.Lport)
	}
	return render.Endpoint(s.Raddr, s.Rport)
}

// slowest is the command that shows the slowest answers of a connection's service.
func slowest(s *agg.Socket) string {
	return "waits --slowest 5 --port " + strconv.FormatInt(servicePort(s), 10)
}

// servicePort is the port of what a connection is for.
func servicePort(s *agg.Socket) int64 {
	if s.Serves() {
		return s.Lport
	}
	return s.Rport
}

// loopback reports an address of this host's loopback device.
func loopback(addr string) bool {
	ip, err := netip.ParseAddr(addr)
	return err == nil && ip.Unmap().IsLoopback()
}

// top is the most frequent of several names and how often it is, "" if there are none.
func top(names *agg.Top[string]) (name string, n int64) {
	for _, e := range names.Best(1, cmp.Compare[string]) {
		name, n = e.Key, e.Count
	}
	return name, n
}

// show is the call of an analysis about one socket.
func show(analysis string, s *agg.Socket) string {
	if analysis == "sock" {
		return fmt.Sprintf("sock 0x%x", s.Addr)
	}
	return fmt.Sprintf("%s --sock 0x%x", analysis, s.Addr)
}

// at is a time as seconds after the start of the recording.
func at(in *engine.Input, ts int64) string {
	return fmt.Sprintf("%.3f s", float64(ts-in.Start())/1e9)
}

// span is a duration in three digits or so.
func span(ns int64) string {
	d := time.Duration(ns)
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

// many is "1 segment" or "3 segments".
func many(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return engine.Thousands(n) + " " + more
}
