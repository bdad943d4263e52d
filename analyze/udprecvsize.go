package analyze

import (
	"netrec/analyze/calls"
	"netrec/analyze/engine"
)

var _ = register(calls.MsgSizes{Event: "udp_msg", Dir: "recv", Name: "recv_bytes", V4: "udp_recvmsg"}.Of(engine.Analysis{
	Name:     "udprecvsize",
	Group:    groupMuch,
	Aliases:  []string{"p17", "b7 --data --look bcc"},
	Question: "what sizes are UDP receives?",
	Help: `Bytes of each call that received over UDP, IPv4 and IPv6, as a histogram. Errors are
counted separately, reads with MSG_PEEK not at all. A datagram that is longer than the
caller's buffer is truncated, and counts with the size that the caller got.
The original hooks only the function for IPv4 and reads the return value as unsigned, so
errors end up in the buckets of gigabytes; --compat does the same. b7 counts neither
errors nor empty datagrams.
Tunnels in the kernel (VXLAN, WireGuard) do not pass these functions.`,
	Example: "udprecvsize --by comm,host",
}))
