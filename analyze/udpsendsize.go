package analyze

import "netrec/analyze/engine"

var _ = register(msgSizes{event: "udp_msg", dir: "send", name: "send_bytes", v4: "udp_sendmsg"}.of(engine.Analysis{
	Name:     "udpsendsize",
	Aliases:  []string{"p16", "b6 --look bcc"},
	Question: "what sizes are UDP sends?",
	Help: `Bytes of each call that sent over UDP, IPv4 and IPv6, as a histogram; calls that
returned an error are counted apart. A call may be several datagrams where the socket has
UDP_SEGMENT set.
The original sees the function for IPv4 only, and counts the size asked for, also of
calls that failed: --compat does so.
Tunnels in the kernel (VXLAN, WireGuard) do not pass these functions.`,
	Example: "udpsendsize --by comm,port",
}))
