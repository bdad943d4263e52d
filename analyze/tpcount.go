package analyze

import "netrec/analyze/engine"

var _ = register(engine.Analysis{
	Name:     "tpcount",
	Aliases:  []string{"iwltps --match iwlwifi*", "p23 --match iwlwifi*"},
	Group:    groupCPU,
	Question: "how often are tracepoints passed?",
	Help: `How often each tracepoint was passed while the recorder counted it, rarest first,
from a row per tracepoint, CPU and second. --from and --to take the rows that end in
that time, --rate divides by the time that they cover. Which tracepoints there are
decides the recording (netrec record --count-tp 'iwlwifi*'); a driver that is
loaded later is not counted.`,
	Example: "tpcount --match iwlwifi*",
	Options: countedOptions("probe"),
	New:     func(in *engine.Input) engine.Fold { return newCounted(in, "tp_count", "probe", "tracepoint:") },
})
