package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name: "funccount",
	Aliases: []string{"tcpfuncs --match tcp_*", "b5 --match tcp_* --look bcc", "p14 --match tcp_*",
		"udpfuncs --match udp*", "b8 --match udp_* --look bcc", "p18 --match udp_*",
		"wififuncs --match ieee80211_*", "b10 --match ieee80211_* --look bcc", "p21 --match ieee80211_*",
		"driverfuncs --match ixgbevf_*", "b11 --match ixgbevf_* --look bcc", "p22 --match ixgbevf_*"},
	Group:    groupCPU,
	Question: "how often are kernel functions called?",
	Help: `How often each function was called while the recorder counted it, rarest first. Millions of
calls a second cannot be rows, so the recorder adds them up: one row per function, CPU and
second. --from and --to select the rows that end in that time; --rate divides by the time
that they cover.

The recording decides which functions are counted (netrec record --count-func 'tcp_*').
Functions that the compiler inlined or split show under other names or not at all. udpfuncs
also has the IPv6 functions, which udp_* does not match. For drivers other than ixgbevf, use
driverfuncs with --match.`,
	Example: "funccount --match tcp_* --rate",
	Options: shape.CountedOptions("func"),
	New:     func(in *engine.Input) engine.Fold { return shape.NewCounted(in, "func_count", "func", "") },
})
