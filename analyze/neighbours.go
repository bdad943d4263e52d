package analyze

import (
	"strings"

	"netrec/analyze/engine"
)

// dropped counts a request that never came to a device, because its neighbour is not known.
// The row does not say what kind of ICMP it was; what processes send by sockets for ICMP is
// echo requests, and the kernel's own messages belong to no process.
func (f *superping) dropped(r *engine.Row) {
	if proto := r.Str(f.proto); proto != "icmp" && proto != "icmpv6" || r.Sock == nil || r.Sock.Pid == 0 || !noNeighbour(r.Str(f.reason), r.Str(f.location)) {
		return
	}
	f.sent++
	f.unsent++
	h := f.host(echo{remote: f.names.Get(r.Str(f.daddr))})
	h.sent++
	h.unsent++
}

// noNeighbour tells drops of packets whose neighbour could not be found. Kernels before 5.17
// give no reason.
func noNeighbour(reason, location string) bool {
	if reason != "" {
		return strings.HasPrefix(reason, "NEIGH_")
	}
	for _, fn := range []string{"arp_error_report", "ndisc_error_report", "neigh_", "__neigh_"} {
		if strings.HasPrefix(location, fn) {
			return true
		}
	}
	return false
}
