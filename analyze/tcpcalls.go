package analyze

import (
	"netrec/analyze/calls"
	"netrec/analyze/engine"
)

var _ = register(engine.Analysis{
	Name:     "tcpcalls",
	Aliases:  []string{"p9", "p10 --by func,pid,comm"},
	Group:    groupMuch,
	Question: "how often do processes send and receive over TCP?",
	Help: `Calls of tcp_sendmsg and tcp_recvmsg, rarest first, including those that returned an error.
Without tcp_msg (profile full) they are counted in the socket layer, which calls these.
A call that has not returned when the recording ends is not counted; the originals count
it, because they hook the start of the call.`,
	Example: "tcpcalls --by func,comm,port",
	Options: []engine.Option{engine.By("func", calls.Keys...)},
	New:     calls.CountMsgs("tcp_msg"),
})
