package analyze

import "netrec/analyze/engine"

var _ = register(msgSizes{event: "tcp_msg", dir: "send", name: "send_bytes"}.of(engine.Analysis{
	Name:     "tcpsendsize",
	Aliases:  []string{"p11", "b3 --look bcc"},
	Question: "what sizes are TCP sends?",
	Help: `Bytes that each call of tcp_sendmsg took over, as a histogram. A socket that does not
wait takes what fits into its buffer, so this may be less than the program asked for;
calls that took nothing and returned an error are counted apart. sendfile(2) and
splice(2) pass by this function on kernels before 6.5.
The original counts the size asked for: --compat does so.`,
	Example: "tcpsendsize --by comm,port",
}))
