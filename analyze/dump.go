package analyze

import (
	"fmt"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
)

// Dump prints rows as text. It is a command of its own and none of the analyses: it answers nothing.
var Dump = engine.Analysis{
	Name:    "dump",
	Example: "dump --event tcp_state --port 443",
	Options: []engine.Option{{Name: "event", Short: "e", Kind: engine.Several, Choices: line.EventNames(true), Doc: "only these events", Check: func(s string) error {
		if slices.Contains(line.EventNames(true), s) {
			return nil
		}
		return fmt.Errorf("%q is not an event", s)
	}}},
	New: func(in *engine.Input) engine.Fold {
		events := line.EventNames(false)
		if list := in.Text("event"); list != "" {
			events = strings.Split(list, ",")
		}
		in.Always()
		in.Answer.Whole()
		return line.NewRows(in, events, func(*agg.Socket) bool { return true })
	},
}
