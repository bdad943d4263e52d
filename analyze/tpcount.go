package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "tpcount",
	Aliases:  []string{"iwltps --match iwlwifi*", "p23 --match iwlwifi*"},
	Group:    groupCPU,
	Question: "how often are tracepoints passed?",
	Help: `How often each tracepoint was hit while the recorder counted it, rarest first, from one row
per tracepoint, CPU and second. --from and --to select the rows that end in that time;
--rate divides by the time that they cover. The recording decides which tracepoints are
counted (netrec record --count-tp 'iwlwifi*'); those of a driver that is loaded later are
not.`,
	Example: "tpcount --match iwlwifi*",
	Options: shape.CountedOptions("probe"),
	New:     func(in *engine.Input) engine.Fold { return shape.NewCounted(in, "tp_count", "probe", "tracepoint:") },
})
