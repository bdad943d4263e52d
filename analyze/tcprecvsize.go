package analyze

import "netrec/analyze/engine"

var _ = register(msgSizes{event: "tcp_msg", dir: "recv", name: "recv_bytes"}.of(engine.Analysis{
	Name:     "tcprecvsize",
	Aliases:  []string{"p12", "b4 --data --look bcc"},
	Question: "what sizes are TCP receives?",
	Help: `Bytes that each call of tcp_recvmsg returned, as a histogram; 0 is the end of the
stream. Errors are counted apart. Reads with MSG_PEEK leave the data where it is and do
not count.
The original reads the return value without its sign, so errors land in the buckets
of gigabytes; it counts MSG_PEEK: --compat does so. b4 counts neither zero nor errors.
Data mapped with TCP_ZEROCOPY_RECEIVE passes this function by.`,
	Example: "tcprecvsize --by comm",
}))
