package analyze

import "netrec/analyze/engine"

var _ = register(engine.Analysis{
	Name:     "connstacks",
	Aliases:  []string{"p4", "b2 --look bcc"},
	Group:    groupWho,
	Question: "which code calls connect(2)?",
	Help: `Calls of connect(2) by the user stack they came from, rarest first, innermost frame
first. Libraries built without frame pointers end a stack early, often after the first
frame; one-frame stacks of different callers look the same.

Frames of stripped programs are file, build and address, app(1a2b3c4d)+0x1139;
--symbols DIR names them from debug files in DIR, inlined functions included.`,
	Example: "connstacks --by ustack,comm",
	Options: []engine.Option{engine.By("ustack", callKeys...)},
	New:     countCalls("sys_connect"),
})
