package analyze

import (
	"netrec/analyze/calls"
	"netrec/analyze/engine"
)

var _ = register(engine.Analysis{
	Name:     "connstacks",
	Aliases:  []string{"p4", "b2 --look bcc"},
	Group:    groupWho,
	Question: "which code calls connect(2)?",
	Help: `Calls of connect(2) by user stack, rarest first, innermost frame first. Stacks end early in
libraries without frame pointers, often after the first frame; one-frame stacks of
different callers look the same.

Frames of stripped programs show file, build id and address, as in app(1a2b3c4d)+0x1139;
--symbols DIR names them from debug files in DIR, including inlined functions.`,
	Example: "connstacks --by ustack,comm",
	Options: []engine.Option{engine.By("ustack", calls.Keys...)},
	New:     calls.Count("sys_connect"),
})
