package analyze

import (
	"netrec/analyze/calls"
	"netrec/analyze/engine"
)

var _ = register(engine.Analysis{
	Name:     "udpcalls",
	Aliases:  []string{"p15"},
	Group:    groupMuch,
	Question: "which processes send and receive over UDP, and how often?",
	Help: `Calls of UDP's send and receive functions, IPv4 and IPv6, by function and process, rarest
first, including those that returned an error. Each datagram of sendmmsg(2) and
recvmmsg(2) counts as one call.
Without udp_msg (profile full) they are counted in the socket layer, which calls these.
Tunnels in the kernel (VXLAN, WireGuard) do not pass these functions.`,
	Example: "udpcalls --by comm,host",
	Options: []engine.Option{engine.By("func,pid,comm", calls.Keys...)},
	New:     calls.CountMsgs("udp_msg"),
})
