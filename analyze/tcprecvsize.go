package analyze

import (
	"netrec/analyze/calls"
	"netrec/analyze/engine"
)

var _ = register(calls.MsgSizes{Event: "tcp_msg", Dir: "recv", Name: "recv_bytes"}.Of(engine.Analysis{
	Name:     "tcprecvsize",
	Group:    groupMuch,
	Aliases:  []string{"p12", "b4 --data --look bcc"},
	Question: "what sizes are TCP receives?",
	Help: `Bytes that each call of tcp_recvmsg returned, as a histogram; 0 is the end of the stream.
Errors are counted separately. Reads with MSG_PEEK leave the data in the buffer and do not
count.
The original reads the return value as unsigned, so errors end up in the buckets of
gigabytes, and it counts MSG_PEEK; --compat does the same. b4 counts neither zero nor errors.
Data mapped with TCP_ZEROCOPY_RECEIVE does not pass this function.`,
	Example: "tcprecvsize --by comm",
}))
