package findings

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

var outOfOrder = Rule{
	Name: "out-of-order", Default: 1, Unit: Percent, Any: nil, Counters: []string{"TcpExtTCPOFOQueue"},
	About: "share of the received segments that come out of order: lost or reordered before this host",
	New:   newOutOfOrder,
}

// disorderLeast is how many segments must come out of order: fewer may be chance.
const disorderLeast = 20

func newOutOfOrder(in *engine.Input, limit float64, found *Shelf) func() {
	var peers agg.Top[string]
	var own agg.Intern
	dir, ret := in.Str("dir"), in.Int("ret")
	in.Use("sock_io", "", func(r *engine.Row) {
		if r.Sock != nil && r.Sock.Protocol == "tcp" && r.Str(dir) == "recv" && r.Int(ret) > 0 {
			peers.Add(own.Get(r.Sock.Raddr), r.Int(ret))
		}
	})
	return func() {
		n, all := grown(in, "TcpExtTCPOFOQueue"), grown(in, "TcpInSegs")
		share := 100 * float64(n) / float64(max(all, 1))
		if n < disorderLeast || share < limit {
			return
		}
		v := Finding{Level: Slow, Over: share / limit, Next: "tcptop",
			What:     fmt.Sprintf("%.1f %% of the received segments came out of order: packets were lost or reordered before this host", share),
			Evidence: fmt.Sprintf("%s of %s, by the kernel's counter TCPOFOQueue, which does not name connections", engine.Thousands(n), many(all, "segment", "segments"))}
		for _, e := range peers.Best(1, cmp.Compare[string]) {
			v.Peer = e.Key
			v.Evidence += fmt.Sprintf("; %s sent most, %s bytes", e.Key, engine.Thousands(e.Count))
		}
		found.Add(v)
	}
}
