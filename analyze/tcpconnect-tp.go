package analyze

import "netrec/analyze/engine"

var _ = register(transition{from: "CLOSE", to: "SYN_SENT", client: true, ipv6: "::"}.of(engine.Analysis{
	Name:     "tcpconnect-tp",
	Group:    groupWho,
	Question: "who opens TCP connections, by the change of state to SYN_SENT?",
	Help: `One line per attempt that sent a SYN, at that moment, from the tracepoint of state
changes alone: a light recording has it. Attempts that fail before the SYN, and
what became of the others, are in tcpconnect.
The original reads the address fields for IPv4 of IPv6 sessions too, which are
empty there: --compat shows that.`,
	Example: "tcpconnect-tp --comm curl",
}))
