package analyze

import (
	"strconv"

	"netrec/analyze/engine"
	"netrec/analyze/findings"
	"netrec/analyze/render"
)

var _ = register(engine.Analysis{
	Name:     "findings",
	Group:    groupStart,
	Question: "what looks wrong?",
	Main:     []string{"findings"},
	Help: `Everything beyond the threshold of a rule, worst first. bad: something was lost, refused
or failed. slow: something waited. note: worth knowing. Within these, the finding that
exceeds its threshold most comes first. Each rule shows its three worst findings, or as
many as --top says; the first line counts all. Each finding has its evidence and the
command that shows more. Rules whose events were not recorded are listed.

The rules with their thresholds, which --threshold changes:
` + findings.Help(),
	Example: "findings --threshold slow-dns=200ms,drops=100",
	Options: []engine.Option{findings.ThresholdOption(), engine.Top(strconv.Itoa(findings.MostOfRule), "how many of one rule, at most a thousand")},
	New: func(in *engine.Input) engine.Fold {
		set := findings.New(in, in.Text("threshold"), max(1, min(in.Number("top"), 1000)))
		return engine.FoldFunc(func(*render.Answer) { findings.Show(in, set.Judge(), false) })
	},
})
