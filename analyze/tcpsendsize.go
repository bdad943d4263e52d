package analyze

import (
	"netrec/analyze/calls"
	"netrec/analyze/engine"
)

var _ = register(calls.MsgSizes{Event: "tcp_msg", Dir: "send", Name: "send_bytes"}.Of(engine.Analysis{
	Name:     "tcpsendsize",
	Group:    groupMuch,
	Aliases:  []string{"p11", "b3 --look bcc"},
	Question: "what sizes are TCP sends?",
	Help: `Bytes that each call of tcp_sendmsg accepted, as a histogram. A non-blocking socket accepts
what fits into its buffer, which can be less than the program asked for. Calls that
accepted nothing and returned an error are counted separately. sendfile(2) and splice(2)
do not pass this function on kernels before 6.5.
The original counts the size asked for; --compat does the same.`,
	Example: "tcpsendsize --by comm,port",
}))
