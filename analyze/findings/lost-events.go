package findings

import (
	"fmt"
	"slices"

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
		var worst Finding
		others := int64(-1)
		for i := range schema.Events {
			f, lost := lostOf(in, &schema.Events[i], limit)
			if !lost {
				continue
			}
			if others++; f.Over > worst.Over {
				worst = f
			}
		}
		if others > 0 {
			worst.Evidence += "; the worst of " + many(others+1, "event", "events")
		}
		if others >= 0 {
			found.Add(worst)
		}
	}
}

// perhaps is how many of the lost events may not have been wanted: where only a part is recorded, those
// that an interrupt hid are counted without a look at them.
func perhaps(in *engine.Input, event string) (n int64) {
	hooks := slices.DeleteFunc(slices.Clone(in.Meta.Hooks), func(h schema.EventHooks) bool { return h.Event != event })
	if !in.Meta.Recording.Picks(hooks) {
		return 0
	}
	for _, c := range in.Meta.Losses {
		if c.Event == event {
			n += c.Nested
		}
	}
	return n
}

// lostOf is what a recording lost of an event, if that is beyond the threshold.
func lostOf(in *engine.Input, e *schema.Event, limit float64) (Finding, bool) {
	rows, lost, _ := engine.Account(in.Meta, e.Name)
	lost -= perhaps(in, e.Name)
	what := e.Name + " events"
	if e.Counts() {
		rows, what = engine.Calls(in.Meta, e.Name), "calls that "+e.Name+" counts"
		if rows == 0 {
			return Finding{}, false // an older file does not say of how many calls these are
		}
	}
	percent := 100 * float64(lost) / float64(max(rows, 0)+max(lost, 1))
	if lost <= 0 || percent < limit {
		return Finding{}, false
	}
	return Finding{Level: Note, Over: percent / limit,
		What:     fmt.Sprintf("%.1f %% of the %s are missing from the recording", percent, what),
		Evidence: fmt.Sprintf("%s lost, %s recorded; answers that use them say so", engine.Thousands(lost), engine.Thousands(rows)),
		Next:     "overview --table events"}, true
}
