package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

var resets = Rule{
	Name: "resets", Default: 3, Unit: Count, Any: []string{"tcp_reset"},
	About:    "connections of one service that one side resets, and SYNs to a port where nothing listens",
	Explains: []string{"retransmit-timeouts", "retransmit-burst"},
	New:      newResets,
}

// resetShare is the least share of a service's connections, in percent, that are reset. Single
// resets are how some programs and load balancers end connections that are done.
const resetShare = 5

// afterClose are states in which this side has closed already: a reset by the peer costs it
// nothing.
var afterClose = []string{"FIN_WAIT1", "FIN_WAIT2", "CLOSING", "LAST_ACK", "TIME_WAIT"}

// resetWhy says what the kernel's reasons for sending a reset mean.
var resetWhy = map[string]string{
	"TCP_ABORT_ON_CLOSE":       "the application closed with unread data",
	"TCP_ABORT_ON_LINGER":      "the application closed with SO_LINGER 0",
	"TCP_DISCONNECT_WITH_DATA": "the application closed with SO_LINGER 0 or before its data was sent",
	"TCP_ABORT_ON_DATA":        "data came after the application had closed",
	"TCP_ABORT_ON_MEMORY":      "no memory for closed sockets",
	"TCP_KEEPALIVE_TIMEOUT":    "no answer to keepalive probes",
	"TCP_TIMEOUT":              "no answer to retransmissions",
}

// resetBy is a service and who reset its connections.
type resetBy struct {
	service string
	sent    bool // by this host
}

func (k resetBy) compare(o resetBy) int {
	if k.sent != o.sent && k.sent {
		return -1
	}
	return cmp.Or(cmp.Compare(k.service, o.service))
}

// resetConns are the connections that one side reset.
type resetConns struct {
	n, first    int64
	sock        agg.Socket
	states, why agg.Top[string]
}

// resetting follows resets, and how many connections each service has.
type resetting struct {
	in      *engine.Input
	all     agg.Keyed[resetBy, resetConns]
	conns   agg.Keyed[string, int64]
	refused agg.Keyed[int64, resetConns] // by local port: packets for which there is no socket
	ports   map[int64]bool               // local ports that had a socket
	lives   agg.PerSocket[resetLife]
	names   agg.Intern

	Lport                                  scan.Int
	Dir, State, RstReason, Raddr, OldState scan.Str
	NewState                               scan.Str
}

// resetLife is how far a connection came.
type resetLife struct {
	before string // state before the newest change
	up     bool   // it was established
}

func newResets(in *engine.Input, limit float64, found *Shelf) func() {
	f := &resetting{in: in, ports: map[int64]bool{}}
	in.Bind(f)
	for i := range in.Meta.Sockets {
		f.ports[int64(in.Meta.Sockets[i].Lport)] = true
	}
	in.Use("tcp_state", "", func(r *engine.Row) {
		if r.Sock != nil {
			v := f.lives.Of(r.Sock)
			v.before, v.up = f.names.Get(r.Str(f.OldState)), v.up || r.Str(f.NewState) == "ESTABLISHED"
		}
	})
	in.Use("tcp_reset", "", f.row)
	in.OnEnd(func(s *agg.Socket) {
		if f.ports[s.Lport] = true; s.Protocol == "tcp" && s.Tuple() && (f.lives.Of(s).up || !s.Born) { // a refused connect was none
			if n := f.conns.At(f.names.Get(service(s))); n != nil {
				*n++
			}
		}
	})
	return func() { f.judge(limit, found) }
}

func (f *resetting) row(r *engine.Row) {
	state, sent := r.Str(f.State), r.Str(f.Dir) == "send"
	if r.Sock == nil || !r.Sock.Tuple() {
		if c := f.refused.At(r.Int(f.Lport)); sent && c != nil {
			c.add(r.TS, "", f.names.Get(r.Str(f.Raddr)))
		}
		return
	}
	if state == "CLOSE" || state == "" { // the kernel closes before it resets
		state = f.lives.Of(r.Sock).before
	}
	if state == "SYN_SENT" || !sent && slices.Contains(afterClose, state) {
		return // a refused connect, or of no consequence
	}
	if c := f.all.At(resetBy{f.names.Get(service(r.Sock)), sent}); c != nil {
		if c.add(r.TS, f.names.Get(state), f.names.Get(r.Str(f.RstReason))); c.n == 1 {
			c.sock = *r.Sock
		}
	}
}

func (c *resetConns) add(ts int64, state, why string) {
	if c.n++; c.n == 1 {
		c.first = ts
	}
	if state != "" {
		c.states.Add(state, 1)
	}
	if why != "" {
		c.why.Add(why, 1)
	}
}

func (f *resetting) judge(limit float64, found *Shelf) {
	for _, k := range f.all.Sorted(func(c *resetConns) int64 { return -c.n }, resetBy.compare) {
		c, of := f.all.At(k), int64(0)
		if n := f.conns.At(k.service); n != nil {
			of = max(*n, c.n)
		}
		if float64(c.n) >= limit && 100*c.n >= resetShare*of {
			found.Add(f.finding(k, c, of, limit))
		}
	}
	for _, port := range f.refused.Sorted(func(c *resetConns) int64 { return -c.n }, cmp.Compare[int64]) {
		if c := f.refused.At(port); !f.ports[port] && float64(c.n) >= limit {
			from, n := top(&c.why)
			found.Add(Finding{Level: Bad, Over: float64(c.n) / limit, At: c.first, Port: port, About: fmt.Sprint("no listener ", port),
				What:     fmt.Sprintf("nothing listens on port %d: this host refused %s with resets", port, many(c.n, "packet", "packets")),
				Evidence: fmt.Sprintf("first at %s; %s from %s", at(f.in, c.first), engine.Thousands(n), from),
				Next:     fmt.Sprint("skbdrop --port ", port)})
		}
	}
}

func (f *resetting) finding(k resetBy, c *resetConns, of int64, limit float64) Finding {
	v := Finding{Level: Bad, Over: float64(c.n) / limit, At: c.first, Next: show("sock", &c.sock), Own: true}.of(&c.sock)
	who := "the peer"
	if k.sent {
		who = "this host, " + owner(c.sock.Pid, c.sock.Comm) + ","
	}
	v.About = k.service + " by " + who
	v.What = fmt.Sprintf("%s reset %s of %s (%s)", who, engine.Thousands(c.n), many(of, "connection", "connections"), k.service)
	said := []string{"first at " + at(f.in, c.first)}
	for _, e := range c.states.Best(2, cmp.Compare[string]) {
		said = append(said, fmt.Sprintf("%s in %s", engine.Thousands(e.Count), e.Key))
	}
	if why, n := top(&c.why); why != "" {
		said = append(said, fmt.Sprintf("%s: %s", engine.Thousands(n), cmp.Or(resetWhy[why], why)))
	}
	v.Evidence = strings.Join(said, "; ")
	return v
}
