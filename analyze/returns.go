package analyze

import (
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// unfinished are the errors after which a connect goes on, or was over before.
var unfinished = []int64{4, eisconn, ealready, einprogress}

// returned takes the return of connect(2): its own result wins over the change of state.
func (f *attempts) returned(r *engine.Row) {
	if r.Sock == nil {
		return
	}
	a := f.socks.Of(r.Sock)
	if !a.waits || r.TS-r.Int(f.dur) > a.ended {
		return
	}
	if ret := r.Int(f.ret); ret < 0 && a.result == closedEarly && !slices.Contains(unfinished, -ret) {
		a.result = render.Errno(ret)
	}
	if a.rport == 0 {
		a.raddr, a.rport = f.names.Get(r.Str(f.dest)), r.Int(f.destPort)
	}
	f.settle(r.Sock, a)
}

// closed takes the end of a socket whose process did not wait for an outcome.
func (f *attempts) closed(r *engine.Row) {
	if r.Sock != nil {
		f.settle(r.Sock, f.socks.Of(r.Sock))
	}
}

// settle lets an attempt that waits for a call have the outcome that is known.
func (f *attempts) settle(s *agg.Socket, a *attempt) {
	if a.waits {
		if a.waits = false; a.at != 0 {
			f.end(s, a)
		}
	}
}

// connectProto is the protocol of a connect(2), "" where the descriptor was no socket: older
// recordings have 0 there, which is a protocol.
func connectProto(r *engine.Row, protocol scan.Col) string {
	if r.Sock == nil {
		return ""
	}
	return r.Str(protocol)
}

// callProto is the protocol of a connect(2) or accept(2), "" where the descriptor was no
// socket. Older recordings do not have it of accepts: TCP is the only one of IP that waits in
// a queue, but for SCTP and MPTCP, and those of other families have the default.
func callProto(r *engine.Row, protocol, family scan.Col) string {
	if r.Event.Name == "sys_connect" {
		return connectProto(r, protocol)
	}
	p := r.Str(protocol)
	if p == "" && r.Sock != nil {
		p = r.Sock.Protocol
	}
	switch {
	case p != "":
	case strings.HasPrefix(r.Str(family), "inet"):
		return "tcp"
	case r.Sock != nil:
		return "ip"
	}
	return p
}

// connected is the result of a connect that succeeded.
const connected = "connected"

// Errors of a connect that is asked about again.
const (
	eisconn  = 106
	ealready = 114
)

// einprogress is EINPROGRESS: the connection of a non-blocking socket goes on.
const einprogress = 115

// noteLostEnds says how many connects are not counted because the row that ends them may be
// among those that were lost.
func noteLostEnds(a *render.Answer, n int64, which string) {
	if n > 0 {
		a.Note(engine.Plural(n, "connect", "connects") + " whose " + which + " may be in lost rows are not counted")
	}
}
