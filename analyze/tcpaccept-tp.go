package analyze

import "netrec/analyze/engine"

// A child of an IPv6 listener has 127.0.0.6 in the fields for IPv4, which the original
// prints as the first four bytes of an IPv6 address.
var _ = register(transition{from: "SYN_RECV", to: "ESTABLISHED", ipv6: "7f00:6::"}.of(engine.Analysis{
	Name:     "tcpaccept-tp",
	Group:    groupWho,
	Question: "who connects to this host over TCP, by the change of state to ESTABLISHED?",
	Help: `One line per connection that a listener's handshake made, at that moment, whether or
not a process has accepted it; from the tracepoint of state changes alone, so a
light recording has it. The change happens in an interrupt: the process that accepts
is not known yet, and in the formats for programs only where it did so later.
The original reads the address fields for IPv4 of IPv6 sessions too: --compat
shows what is there.`,
	Example: "tcpaccept-tp --port 80",
}))
