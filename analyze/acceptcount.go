package analyze

import (
	"netrec/analyze/calls"
	"netrec/analyze/engine"
)

var _ = register(engine.Analysis{
	Name:     "acceptcount",
	Aliases:  []string{"p1"},
	Group:    groupWho,
	Question: "which processes call accept(2), and how often?",
	Help: `Calls of accept(2) and accept4(2) by process, rarest first. These are attempts: a call on
a socket without waiting connections returns EAGAIN and counts too.`,
	Example: "acceptcount --by comm,port,errno",
	Options: []engine.Option{engine.By("pid,comm", calls.Keys...)},
	New:     calls.Count("sys_accept"),
})
