package analyze

import (
	"netrec/analyze/calls"
	"netrec/analyze/engine"
)

var _ = register(engine.Analysis{
	Name:     "conncount",
	Aliases:  []string{"p2"},
	Group:    groupWho,
	Question: "which processes call connect(2), and how often?",
	Help: `Calls of connect(2) by process, rarest first, for all address families. These are attempts:
failed calls count, and a client that polls its socket by calling connect again counts
each time. A connect by io_uring counts once.`,
	Example: "conncount --by comm,host,errno",
	Options: []engine.Option{engine.By("pid,comm", append(calls.Keys, "ustack")...)},
	New:     calls.Count("sys_connect"),
})
