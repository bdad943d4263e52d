package analyze

import (
	"fmt"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/schema"
)

// Dump prints rows as text. It is a command of its own and none of the analyses: it answers nothing.
var Dump = engine.Analysis{
	Name:    "dump",
	Example: "dump --event tcp_state --port 443",
	Options: []engine.Option{oneOf("event", "e", "an event", line.EventNames(true)), oneOf("column", "c", "a column", columnNames())},
	New: func(in *engine.Input) engine.Fold {
		events := line.EventNames(false)
		if list := in.Text("event"); list != "" {
			events = strings.Split(list, ",")
		}
		var columns []string
		if list := in.Text("column"); list != "" {
			columns = strings.Split(list, ",")
		}
		in.Always()
		in.Answer.Whole()
		return line.NewRows(in, events, columns, func(*agg.Socket) bool { return true })
	},
}

// oneOf is an option that selects by names.
func oneOf(name, short, what string, names []string) engine.Option {
	return engine.Option{Name: name, Short: short, Kind: engine.Several, Choices: names, Doc: "only these " + name + "s", Check: func(s string) error {
		if slices.Contains(names, s) {
			return nil
		}
		return fmt.Errorf("%q is not %s", s, what)
	}}
}

func columnNames() (names []string) {
	for i := range schema.Columns {
		names = append(names, schema.Columns[i].Name)
	}
	return names
}
