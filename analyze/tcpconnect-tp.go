package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/line"
)

var _ = register(line.Transition{From: "CLOSE", To: "SYN_SENT", Client: true, IPv6: "::"}.Of(engine.Analysis{
	Name:     "tcpconnect-tp",
	Group:    groupWho,
	Question: "who opens TCP connections, by the change of state to SYN_SENT?",
	Help: `One line per attempt that sent a SYN, at that moment. It needs only the tracepoint of state
changes, so a light recording has it. tcpconnect also has attempts that fail before the
SYN, and the result of the others.
The original reads the IPv4 address fields even for IPv6 sessions, where they are empty;
--compat prints that.`,
	Example: "tcpconnect-tp --comm curl",
}))
