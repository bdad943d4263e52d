package analyze

import (
	"netrec/analyze/calls"
	"netrec/analyze/engine"
)

var _ = register(calls.MsgSizes{Event: "udp_msg", Dir: "send", Name: "send_bytes", V4: "udp_sendmsg"}.Of(engine.Analysis{
	Name:     "udpsendsize",
	Group:    groupMuch,
	Aliases:  []string{"p16", "b6 --look bcc"},
	Question: "what sizes are UDP sends?",
	Help: `Bytes of each call that sent over UDP, IPv4 and IPv6, as a histogram. Calls that returned
an error are counted separately. If the socket has UDP_SEGMENT set, one call can send
several datagrams.
The original hooks only the function for IPv4, and counts the size asked for, even of
failed calls; --compat does the same.
Tunnels in the kernel (VXLAN, WireGuard) do not pass these functions.`,
	Example: "udpsendsize --by comm,port",
}))
