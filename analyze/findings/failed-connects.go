package findings

import (
	"cmp"
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var failedConnects = Rule{
	Name: "failed-connects", Default: 1, Unit: Count, Any: []string{"sys_connect", "tcp_state"},
	About:    "TCP connects to one address and port that fail with the same error",
	Explains: []string{"slow-connects", "retransmit-timeouts", "resets"},
	New:      newFailedConnects,
}

// eaddrnotavail is the result of a connect for which no local port is free. IPv6 also
// returns it where it has no address to connect from, before any change of state.
const eaddrnotavail = 99

// target is where a connect went and how it failed.
type target struct {
	addr  string
	port  int64
	error string
}

func (t target) compare(o target) int {
	return cmp.Or(cmp.Compare(t.addr, o.addr), cmp.Compare(t.port, o.port), cmp.Compare(t.error, o.error))
}

// failures are the connects to a target.
type failures struct {
	n, first int64
	sock     agg.Socket
	who      agg.Top[string]
	noPort   bool // for want of a local port
	ports    portsHeld
}

// trial is what a change of state told of a socket's connect.
type trial struct {
	ended int64 // when it failed, 0 if it did not
	errno int64 // 0 where the change does not say
	open  bool  // the call that may say why has not returned
	asked bool  // a later call was told the error
}

// connects finds failures by the change of state and by what the call returned: of a
// non-blocking connect the call tells nothing, and of one that found no port the change.
type connects struct {
	all    agg.Keyed[target, failures]
	trials agg.PerSocket[trial]
	held   *portUse
	calls  bool // returns of connect(2) were recorded
	names  agg.Intern

	Ret, DestPort, SkErr, Pid, DurNs               scan.Int
	Family, SockType, DestAddr, OldState, NewState scan.Str
}

func newFailedConnects(in *engine.Input, limit float64, found *Shelf) func() {
	f := &connects{calls: in.Recorded("sys_connect"), held: newPortUse(in)}
	in.Bind(f)
	in.Use("tcp_state", "", f.state)
	in.Use("sys_connect", "", f.call)
	in.OnEnd(f.ended)
	return func() {
		for _, t := range f.all.Sorted(func(v *failures) int64 { return -v.n }, target.compare) {
			v := f.all.At(t)
			if float64(v.n) < limit {
				return
			}
			found.Add(f.finding(in, t, v, limit))
		}
	}
}

func (f *connects) finding(in *engine.Input, t target, v *failures, limit float64) Finding {
	who, why := "", t.error
	for _, e := range v.who.Best(1, cmp.Compare[string]) {
		who = fmt.Sprintf("; %s by %s", engine.Thousands(e.Count), e.Key)
	}
	if v.noPort {
		why += ", no local port was free"
		who += "; " + f.held.say(v.ports, at(in, v.first))
	}
	port := int64(0)
	if loopback(t.addr) {
		port = t.port // of a service of this host
	}
	return Finding{Level: Bad, Over: float64(v.n) / limit, At: v.first, Sock: v.sock, Peer: t.addr, Port: port,
		What:     fmt.Sprintf("%s to %s failed: %s", many(v.n, "connect", "connects"), render.Endpoint(t.addr, t.port), why),
		Evidence: "first at " + at(in, v.first) + who,
		Next:     fmt.Sprintf("soconnect --port %d", t.port)}
}

// state takes a handshake that ended in CLOSE. The owner is known once the call returns, and
// so is the reason where the socket has no error.
func (f *connects) state(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	f.held.state(r.Sock, r.TS, r.Str(f.OldState), r.Str(f.NewState))
	if r.Str(f.OldState) != "SYN_SENT" || r.Str(f.NewState) != "CLOSE" {
		return
	}
	t := f.trials.Of(r.Sock)
	*t = trial{ended: r.TS, errno: r.Int(f.SkErr), open: f.calls && r.Int(f.SkErr) == 0}
	if !t.open {
		f.gaveUp(r.Sock, t)
	}
}

// gaveUp counts a failure of which no call tells more than the change of state.
func (f *connects) gaveUp(s *agg.Socket, t *trial) {
	why := "closed before an answer came"
	if t.errno != 0 {
		why = render.Errno(-t.errno)
	}
	f.add(s, t.ended, s.Raddr, s.Rport, why)
}

func (f *connects) call(r *engine.Row) {
	ret, family := r.Int(f.Ret), r.Str(f.Family)
	if r.Sock == nil || ret >= 0 || family != "inet" && family != "inet6" || r.Str(f.SockType) != "stream" {
		return
	}
	if slices.Contains(calls.Unfinished, -ret) {
		return
	}
	t := f.trials.Of(r.Sock)
	within := t.ended != 0 && t.ended >= r.TS-r.Int(f.DurNs)
	switch {
	case within && !t.open:
		return // counted by the change of state
	case !within && !t.asked && t.errno == -ret:
		t.asked = true // the error of the attempt before
		return
	}
	t.open = false
	v := f.add(r.Sock, r.TS, r.Str(f.DestAddr), r.Int(f.DestPort), render.Errno(ret))
	if v != nil && within && ret == -eaddrnotavail && !v.noPort {
		v.noPort, v.ports = true, f.held.of(r.Sock, r.TS)
	}
}

// ended takes a socket of which no call told why its connect failed.
func (f *connects) ended(s *agg.Socket) {
	if t := f.trials.Of(s); t.open {
		f.gaveUp(s, t)
	}
}

func (f *connects) add(s *agg.Socket, ts int64, addr string, port int64, why string) *failures {
	v := f.all.At(target{f.names.Get(addr), port, f.names.Get(why)})
	if v == nil {
		return nil
	}
	if v.n++; v.n == 1 {
		v.first, v.sock = ts, *s
	}
	if s.Pid != 0 {
		v.who.Add(f.names.Get(owner(s.Pid, s.Comm)), 1)
	}
	return v
}
