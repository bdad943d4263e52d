package analyze

import "netrec/analyze/engine"

var _ = register(msgSizes{event: "udp_msg", dir: "recv", name: "recv_bytes", v4: "udp_recvmsg"}.of(engine.Analysis{
	Name:     "udprecvsize",
	Aliases:  []string{"p17", "b7 --data --look bcc"},
	Question: "what sizes are UDP receives?",
	Help: `Bytes of each call that received over UDP, IPv4 and IPv6, as a histogram. Errors are
counted apart, reads with MSG_PEEK not at all. A datagram that is longer than the
caller's buffer is cut, and shows as what the caller got.
The original sees the function for IPv4 only and reads the return value without its
sign, so errors land in the buckets of gigabytes: --compat does so. b7 counts neither
errors nor empty datagrams.
Tunnels in the kernel (VXLAN, WireGuard) do not pass these functions.`,
	Example: "udprecvsize --by comm,host",
}))
