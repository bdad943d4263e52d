package findings

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
)

// The default is what a user notices. A server that is merely busy accepts within a few
// turns of its loop, which are much shorter.
var acceptWait = Rule{
	Name: "accept-wait", Default: 100e6, Unit: Duration, Any: []string{"sys_accept"},
	About:    "time that one in ten connections waits until the server accepts it",
	Explains: []string{"slow-answers"},
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
}

func newAcceptWait(in *engine.Input, limit float64, found *Shelf) func() {
	var socks agg.PerSocket[accepting]
	var ports agg.Keyed[int64, accepts]
	from, to, ret := in.Str("old_state"), in.Str("new_state"), in.Int("ret")
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
			if p := ports.At(port); p.slow >= acceptLeast && float64(p.us.At(0.9)*1000) >= limit {
				found.Add(p.finding(in, port, limit))
			}
		}
	}
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
