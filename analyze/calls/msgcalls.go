package calls

import (
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// msgCalls are the sends and receives of a protocol: as its own functions saw them (tcp_msg,
// udp_msg) or, where these were not recorded, the socket layer that calls them (sock_io).
type msgCalls struct {
	event, protocol string // that it is told from, and the one that it is about

	Dir, Family, Protocol, Func scan.Str
}

func newMsgCalls(in *engine.Input, event string) *msgCalls {
	m := &msgCalls{event: in.FirstOf(event, "sock_io"), protocol: "tcp"}
	in.Bind(m)
	if event == "udp_msg" {
		m.protocol = "udp"
	}
	return m
}

// on hands the calls to h.
func (m *msgCalls) on(in *engine.Input, h engine.Handler) {
	in.On(m.event, func(r *engine.Row) {
		if m.event != "sock_io" || r.Str(m.Protocol) == m.protocol {
			h(r)
		}
	})
}

// function is the protocol's function that the call came to.
func (m *msgCalls) function(r *engine.Row) string {
	if m.event != "sock_io" {
		return r.Str(m.Func)
	}
	name := m.protocol
	if m.protocol == "udp" && r.Str(m.Family) == "inet6" {
		name = "udpv6"
	}
	if r.Str(m.Dir) == "send" {
		return name + "_sendmsg"
	}
	return name + "_recvmsg"
}

// key is the function as a key.
func (m *msgCalls) key() engine.KeyDef {
	return engine.KeyDef{render.TextOr("func", m.function)}
}
