package analyze

import "netrec/analyze/engine"

var _ = register(engine.Analysis{
	Name:     "tcpcalls",
	Aliases:  []string{"p9", "p10 --by func,pid,comm"},
	Group:    groupMuch,
	Question: "how often do processes send and receive over TCP?",
	Help: `Calls of tcp_sendmsg and tcp_recvmsg, rarest first, those that returned an error too.
Without tcp_msg (profile full) they are counted at the socket layer, which calls these.
A call that is under way when the recording ends is not counted; the originals count
it, since they look where a call begins.`,
	Example: "tcpcalls --by func,comm,port",
	Options: []engine.Option{engine.By("func", callKeys...)},
	New:     countMsgs("tcp_msg"),
})
