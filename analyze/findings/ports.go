package findings

import (
	"fmt"
	"strconv"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

// timeWaitNS is how long the kernel keeps a port of a connection that this end closed first.
const timeWaitNS = 60e9

// maxTargets bounds the places whose connections are counted, and maxTimeWait the ends of
// connections that are remembered.
const maxTargets, maxTimeWait = 1 << 16, 1 << 18

// portUse counts the connections that each place has, since each takes a local port that a
// further connection to the same place cannot have.
type portUse struct {
	in       *engine.Input
	lo, hi   int64 // range that the kernel chooses from; 0 if the file does not have it
	open     map[place]int64
	waits    map[place]map[int64]int64 // by local port, when its connection went into TIME_WAIT
	counted  agg.PerSocket[bool]
	waiting  int
	overfull bool
}

// place is the other end of connections.
type place struct {
	netns int64
	addr  string
	port  int64
}

// portsHeld is how many local ports a place had taken.
type portsHeld struct{ open, timeWait int64 }

func newPortUse(in *engine.Input) *portUse {
	p := &portUse{in: in, open: map[place]int64{}, waits: map[place]map[int64]int64{}}
	if v := strings.Fields(in.Meta.Sysctls["net.ipv4.ip_local_port_range"]); len(v) == 2 {
		p.lo, _ = strconv.ParseInt(v[0], 10, 64)
		p.hi, _ = strconv.ParseInt(v[1], 10, 64)
	}
	for i := range in.Meta.Sockets {
		if s := &in.Meta.Sockets[i]; s.Protocol == "tcp" && s.Rport != 0 {
			p.add(place{int64(s.Netns), s.Raddr, int64(s.Rport)}, 1)
		}
	}
	return p
}

func (p *portUse) add(k place, n int64) {
	if _, known := p.open[k]; !known && len(p.open) >= maxTargets {
		p.overfull = true
		return
	}
	p.open[k] += n
}

// state follows a connection from its first state to its end.
func (p *portUse) state(s *agg.Socket, ts int64, from, to string) {
	if s.Rport == 0 || to == "LISTEN" {
		return
	}
	k, counted := place{s.Netns, s.Raddr, s.Rport}, p.counted.Of(s)
	if !*counted {
		if *counted = true; !s.Older {
			p.add(k, 1)
		}
	}
	if to != "CLOSE" {
		delete(p.waits[k], s.Lport) // a port in TIME_WAIT may be taken again
		return
	}
	if p.add(k, -1); from != "FIN_WAIT2" && from != "CLOSING" {
		return
	}
	if p.waiting++; p.waiting > maxTimeWait {
		p.overfull = true
		return
	}
	if p.waits[k] == nil {
		p.waits[k] = map[int64]int64{}
	}
	p.waits[k][s.Lport] = ts
}

// of is how many ports the place that a socket was to be connected with has taken.
func (p *portUse) of(s *agg.Socket, ts int64) portsHeld {
	k := place{s.Netns, s.Raddr, s.Rport}
	h := portsHeld{open: p.open[k]}
	for _, since := range p.waits[k] {
		if ts-since < timeWaitNS {
			h.timeWait++
		}
	}
	return h
}

// say tells what took the ports.
func (p *portUse) say(h portsHeld, when string) string {
	from := "ip_local_port_range is not in the file"
	if p.lo > 0 && p.hi >= p.lo {
		from = fmt.Sprintf("%d to %d are %s ports (ip_local_port_range at the start)", p.lo, p.hi, engine.Thousands(p.hi-p.lo+1))
	}
	more := ""
	if p.overfull {
		more = ", too many to count all"
	}
	return fmt.Sprintf("%s; at %s %s held a connection to it and %s were in TIME_WAIT, not counting those from before the recording%s", from, when, engine.Thousands(h.open), engine.Thousands(h.timeWait), more)
}
