package calls

import (
	"strings"

	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

// ConnectProto is the protocol of a connect(2), "" where the descriptor was no socket: older
// recordings have 0 there, which is a protocol.
func ConnectProto(r *engine.Row, protocol scan.Str) string {
	if r.Sock == nil {
		return ""
	}
	return r.Str(protocol)
}

// Proto is the protocol of a connect(2) or accept(2), "" where the descriptor was no
// socket. Older recordings do not have it of accepts: TCP is the only one of IP that waits in
// a queue, but for SCTP and MPTCP, and those of other families have the default.
func Proto(r *engine.Row, protocol, family scan.Str) string {
	if r.Event.Name == "sys_connect" {
		return ConnectProto(r, protocol)
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
