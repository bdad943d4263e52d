package findings

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/schema"
)

var lostEvents = Rule{
	Name: "lost-events", Default: 0.1, Unit: Percent,
	About: "share of an event that the recorder lost; answers about it are incomplete, not wrong",
	New:   newLostEvents,
}

func newLostEvents(in *engine.Input, limit float64, found *Shelf) func() {
	return func() {
		for i := range schema.Events {
			name := schema.Events[i].Name
			rows, lost, _ := engine.Account(in.Meta, name)
			what := name + " events"
			if schema.Events[i].Counts() {
				rows, what = engine.Calls(in.Meta, name), "calls that "+name+" counts"
				if rows == 0 {
					continue // an older file does not say of how many calls these are
				}
			}
			if lost <= 0 {
				continue
			}
			percent := 100 * float64(lost) / float64(max(rows, 0)+lost)
			if percent < limit {
				continue
			}
			found.Add(Finding{Level: Note, Over: percent / limit,
				What:     fmt.Sprintf("%.1f %% of the %s are missing from the recording", percent, what),
				Evidence: fmt.Sprintf("%s lost, %s recorded; answers that use them say so", engine.Thousands(lost), engine.Thousands(rows)),
				Next:     "overview --table events"})
		}
	}
}
