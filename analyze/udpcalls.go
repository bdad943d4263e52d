package analyze

import "netrec/analyze/engine"

var _ = register(engine.Analysis{
	Name:     "udpcalls",
	Aliases:  []string{"p15"},
	Group:    groupMuch,
	Question: "which processes send and receive over UDP, and how often?",
	Help: `Calls of UDP's send and receive functions of both families, by function and process,
rarest first, those that returned an error too. Each datagram of sendmmsg(2) and
recvmmsg(2) is a call of its own.
Without udp_msg (profile full) they are counted at the socket layer, which calls these.
Tunnels in the kernel (VXLAN, WireGuard) do not pass these functions.`,
	Example: "udpcalls --by comm,host",
	Options: []engine.Option{engine.By("func,pid,comm", callKeys...)},
	New:     countMsgs("udp_msg"),
})
