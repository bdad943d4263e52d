package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/line"
)

// A child of an IPv6 listener has 127.0.0.6 in the fields for IPv4, which the original
// prints as the first four bytes of an IPv6 address.
var _ = register(line.Transition{From: "SYN_RECV", To: "ESTABLISHED", IPv6: "7f00:6::"}.Of(engine.Analysis{
	Name:     "tcpaccept-tp",
	Group:    groupWho,
	Question: "who connects to this host over TCP, by the change of state to ESTABLISHED?",
	Help: `One line per connection that a listener established, at that moment, accepted or not. It
needs only the tracepoint of state changes, so a light recording has it. The change
happens in an interrupt: the process that will accept is not known yet. Formats for
programs name it if it accepted later.
The original reads the IPv4 address fields even for IPv6 sessions; --compat prints what
is there.`,
	Example: "tcpaccept-tp --port 80",
}))
