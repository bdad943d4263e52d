package findings

import (
	"cmp"
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// The default is what a user notices. A server that is merely busy accepts within a few
// turns of its loop, which are much shorter.
var acceptWait = Rule{
	Name: "accept-wait", Default: 100e6, Unit: Duration, Any: []string{"sys_accept"},
	About:    "time that one in ten connections waits until the server accepts it; an accept without a descriptor always counts",
	Explains: []string{"slow-answers", "stalled-answers"},
	New:      newAcceptWait,
}

// acceptLeast is how many connections must wait that long: one may be chance.
const acceptLeast = 3

// accepting is a connection that no process has taken yet.
type accepting struct {
	since int64
	taken bool
}

// accepts are the connections of one listening port.
type accepts struct {
	us               agg.Quantiles
	slow, never      int64
	longest, longeAt int64
	sock             agg.Socket
	refusals         agg.Top[string] // errors of accept for want of something
	refused, firstAt int64
	who              string
}

// wanting are errors of accept that leave the connection in the queue: the process or the host has no
// descriptor or memory for it.
var wanting = []int64{-23, -24, -105, -12}

func newAcceptWait(in *engine.Input, limit float64, found *Shelf) func() {
	var socks agg.PerSocket[accepting]
	var ports agg.Keyed[int64, accepts]
	from, to, ret, lport := in.Str("old_state"), in.Str("new_state"), in.Int("ret"), in.Int("lport")
	took := func(s *agg.Socket, now int64) *accepts {
		v, p := socks.Of(s), ports.At(s.Lport)
		if v.since == 0 || v.taken || p == nil {
			return nil
		}
		v.taken = true
		ns := now - v.since
		if p.us.Add(ns / 1000); float64(ns) >= limit {
			p.slow++
		}
		if ns >= p.longest {
			p.longest, p.longeAt, p.sock = ns, v.since, *s
		}
		return p
	}
	in.Use("tcp_state", "", func(r *engine.Row) {
		if r.Sock != nil && r.Str(from) == "SYN_RECV" && r.Str(to) == "ESTABLISHED" {
			socks.Of(r.Sock).since = r.TS
		}
	})
	in.Use("sock_io", "", func(r *engine.Row) { socks.Of(r.Sock).taken = true }) // by a call that was not seen
	in.Use("sys_accept", "", func(r *engine.Row) {
		if r.Sock != nil && r.Int(ret) >= 0 {
			took(r.Sock, r.TS)
		} else if p := ports.At(r.Int(lport)); p != nil && r.Int(lport) != 0 && slices.Contains(wanting, r.Int(ret)) {
			p.refuse(in, r, r.Int(ret))
		}
	})
	in.OnEnd(func(s *agg.Socket) {
		if !s.Open || s.UnseenAccept() {
			return
		}
		if p := took(s, in.End()); p != nil {
			p.never++
		}
	})
	return func() {
		for _, port := range ports.Sorted(func(p *accepts) int64 { return -p.longest }, cmp.Compare[int64]) {
			p := ports.At(port)
			if p.refused > 0 {
				found.Add(p.refusal(in, port))
				continue
			}
			if p.slow >= acceptLeast && float64(p.us.At(0.9)*1000) >= limit {
				found.Add(p.finding(in, port, limit))
			}
		}
	}
}

func (p *accepts) refuse(in *engine.Input, r *engine.Row, ret int64) {
	p.refusals.Add(render.Errno(ret), 1)
	if p.refused++; p.refused == 1 {
		pid, comm := in.Owner(r)
		p.firstAt, p.who = r.TS, owner(pid, comm)
	}
}

// refusal is about a server that accepts, and cannot.
func (p *accepts) refusal(in *engine.Input, port int64) Finding {
	why, n := top(&p.refusals)
	v := Finding{Level: Bad, Over: float64(p.refused), At: p.firstAt, Port: port, Next: fmt.Sprintf("soaccept --port %d", port),
		What: fmt.Sprintf("the server on port %d could not accept: %s failed with %s", port, many(n, "accept", "accepts"), why)}
	v.Evidence = fmt.Sprintf("%s, first at %s", p.who, at(in, p.firstAt))
	if why == "EMFILE" {
		v.Evidence += "; the process has no free descriptor: raise its limit (ulimit -n), or look for descriptors that it does not close"
	}
	if p.slow > 0 {
		v.Evidence += fmt.Sprintf("; %s waited up to %s in the accept queue", many(p.slow, "connection", "connections"), span(p.longest))
	}
	return v
}

func (p *accepts) finding(in *engine.Input, port int64, limit float64) Finding {
	tenth := p.us.At(0.9) * 1000
	v := Finding{Level: Slow, Over: float64(tenth) / limit, At: p.longeAt, Next: fmt.Sprintf("soaccept --port %d", port)}.of(&p.sock)
	v.Peer, v.Port = "", port
	v.What = fmt.Sprintf("the server on port %d accepts late: one in ten connections waits %s or longer in the accept queue", port, span(tenth))
	v.Evidence = fmt.Sprintf("%s of %s waited at least %s, longest %s from %s", engine.Thousands(p.slow), many(p.us.Count, "connection", "connections"), span(int64(limit)),
		span(p.longest), at(in, p.longeAt))
	if p.never > 0 {
		v.Evidence += fmt.Sprintf("; %s not accepted when the recording ended", engine.Thousands(p.never))
	}
	return v
}
